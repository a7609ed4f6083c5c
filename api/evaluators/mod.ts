/** Evaluators: what the management API does with them. The scoring itself is the evaluators role's. */
import type { Context } from './context.ts';
import { createEvaluations, type Evaluations } from './evaluations.ts';
import { createEvaluators, type Evaluators } from './evaluators.ts';
import { createOnlineEvaluators, type OnlineEvaluators } from './online.ts';
import { createRuns, type Runs } from './runs.ts';
import { createStats, type Stats } from './stats.ts';
import { createTryOut, type TryOut } from './try-out.ts';

export { createJudgeModelCheck } from './judge-models.ts';
export { createTrials, type Trials, type TrialsOptions } from './trials.ts';

/**
 * What the routes of `/v1/evaluator` and `/v1/evaluation` do, for one organization at a time. Bodies come as parsed JSON
 * of any shape and are checked here; ids come as they stand in the path.
 */
export type EvaluatorService = {
  evaluators: Evaluators;
  online: OnlineEvaluators;
  runs: Runs;
  evaluations: Evaluations;
  tryOut: TryOut;
  stats: Stats;
};

export function createEvaluatorService(context: Context): EvaluatorService {
  return {
    evaluators: createEvaluators(context),
    online: createOnlineEvaluators(context),
    runs: createRuns(context),
    evaluations: createEvaluations(context),
    tryOut: createTryOut(context),
    stats: createStats(context),
  };
}
