/** The metrics of the evaluators role. */
import type { Metrics } from '#platform/observability/metrics.ts';
import type { Sql } from '#platform/postgres/mod.ts';

export type EvaluatorsMetrics = {
  /** Counts an evaluation that came to an outcome, by its state. */
  countSettled(state: string): void;
  /** Reads how many evaluators are paused, which the metrics then say. */
  readPaused(): Promise<void>;
};

type EvaluatorsMetricsOptions = {
  metrics: Metrics;
  sql: Sql;
  /** The tier of the Python sandbox. */
  sandboxTier: string;
};

/** Registers the metrics of the evaluators role. */
export function evaluatorsMetrics({
  metrics,
  sql,
  sandboxTier,
}: EvaluatorsMetricsOptions): EvaluatorsMetrics {
  const settled = metrics.counter('evaluations_settled_total', 'Evaluations that came to an outcome', [
    'state',
  ]);
  const paused = metrics.gauge('evaluators_paused', 'Evaluators of all organizations that are paused');
  metrics
    .gauge('sandbox_tier', 'The tier of the Python sandbox, as its label; none: Python is not run', ['tier'])
    .set({ tier: sandboxTier }, 1);
  return {
    countSettled: (state) => settled.inc({ state }),
    readPaused: async () => paused.set(await countPaused(sql)),
  };
}

/** Registers how many evaluations and runs of experiments this process has claimed. */
export function watchClaims(
  metrics: Metrics,
  { evaluations, experimentRuns }: { evaluations(): number; experimentRuns(): number },
): void {
  metrics.readOnDemand('evaluations_held', 'Evaluations that this process has claimed', evaluations);
  metrics.readOnDemand(
    'experiment_runs_held',
    'Runs of experiments that this process has claimed',
    experimentRuns,
  );
}

async function countPaused(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int4 as count from assay.evaluators where paused_reason is not null and deleted_at is null`;
  return row!.count;
}
