/** LLM evaluators: a language model judges an answer, and its reply is parsed into a verdict. */
export {
  createJudgeClient,
  type JudgeClient,
  type JudgeClientOptions,
  type JudgeReply,
  type JudgeSession,
  type JudgeTimeouts,
} from './client.ts';
export { type Judged, type JudgeOptions, judge } from './judge.ts';
export { createPlanMemory, type PlanMemory } from './plan.ts';
