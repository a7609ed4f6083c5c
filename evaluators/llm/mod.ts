/** LLM evaluators: a language model judges an answer, and its reply is parsed into a verdict. */
export { createJudgeClient } from './client.ts';
export { type Judged, judge } from './judge.ts';
export { judgeByJury } from './jury.ts';
export { type Criterion, judgeRubric } from './rubric.ts';
