/** Evaluators whose judge is a language model. */
export {
  createJudgeCall,
  type JudgeCall,
  type JudgeCallOptions,
  type JudgeEdge,
  type JudgeReply,
  type JudgeTimeouts,
} from './call.ts';
export { type Judged, type JudgeOptions, judge } from './judge.ts';
export { createPlanMemory, type PlanMemory } from './plan.ts';
