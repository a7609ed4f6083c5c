/** The management API's work on evaluators. The evaluators role does the scoring itself. */
import type { EvaluatorRetryBody } from './bodies.ts';
import type { Context } from './context.ts';
import { createEvaluations, type Evaluations } from './evaluations.ts';
import { createEvaluators, type Evaluators } from './evaluators.ts';
import { createImport, type ImportJudgments } from './judgments/import-judgments.ts';
import { createOnlineEvaluators, type OnlineEvaluators } from './online.ts';
import { createPairwise, type Pairwise } from './pairwise.ts';
import { type RetriedJson, reopenAll } from './reopen.ts';
import { createRuns, type Runs } from './runs.ts';
import { createStats, type Stats } from './stats.ts';
import { createTryOut, type TryOut } from './try-out.ts';
import { createVersions, type Versions } from './versions.ts';

export * from './bodies.ts';
export { findConfusion } from './confusion.ts';
export { findDisagreements } from './disagreements.ts';
export { DryRunJson } from './dry-run.ts';
export { EvaluationJson } from './evaluation-json.ts';
export { EvaluatorJson } from './evaluator-json.ts';
export { createJudgeModelCheck } from './judge-models.ts';
export { OnlineEvaluatorJson } from './online.ts';
export { winRates } from './pairs.ts';
export { PairwiseJson } from './pairwise.ts';
export { refusePairwise } from './refuse-pairwise.ts';
export { RetriedJson } from './reopen.ts';
export { RunJson } from './run-json.ts';
export { maxCostOf } from './runs.ts';
export { findScoreRange, findScoreRanges } from './score-range.ts';
export { StatsJson, StatsQuery } from './stats.ts';
export { createTrials } from './trials.ts';
export { ExternalTestJson, LlmTestJson, PythonTestJson, TEST_INPUT_PATHS } from './try-out.ts';
export { VersionJson, VersionsQuery } from './versions.ts';

/**
 * The work behind the routes of `/v1/evaluator` and `/v1/evaluation`, for one organization at a time. Bodies fit their schema, and
 * ids have the form of ids; the rules that a schema cannot express are checked here.
 */
export type EvaluatorService = {
  evaluators: Evaluators;
  online: OnlineEvaluators;
  runs: Runs;
  pairwise: Pairwise;
  evaluations: Evaluations;
  importJudgments: ImportJudgments;
  tryOut: TryOut;
  stats: Stats;
  versions: Versions;
  /** Tries the evaluations of an evaluator again that failed or were cancelled. */
  retryAll(organizationId: string, evaluatorId: string, body: EvaluatorRetryBody): Promise<RetriedJson>;
};

export function createEvaluatorService(context: Context): EvaluatorService {
  return {
    evaluators: createEvaluators(context),
    online: createOnlineEvaluators(context),
    runs: createRuns(context),
    pairwise: createPairwise(context),
    evaluations: createEvaluations(context),
    importJudgments: createImport(context),
    tryOut: createTryOut(context),
    stats: createStats(context),
    versions: createVersions(context),
    retryAll: (organizationId, evaluatorId, body) => reopenAll(context, organizationId, evaluatorId, body),
  };
}
