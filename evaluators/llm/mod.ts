/** LLM evaluators: a language model judges an answer, and its reply is parsed into a verdict. */
export { createJudgeClient } from './client.ts';
export type { Judged } from './judge.ts';
export { judgeOrJury } from './jury.ts';
export { judgePair } from './pair.ts';
export { type Criterion, judgeRubric } from './rubric.ts';
