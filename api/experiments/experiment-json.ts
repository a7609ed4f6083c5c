/** Experiments and their runs as rows, and as the API shows them. */
import type {
  EarlyStopRule,
  ExperimentJson,
  ExperimentRunJson,
  ExperimentRunState,
  ExperimentState,
  Stop,
} from '#core/contracts/experiment.ts';
import { nanoToUsd, usdOrNull } from '#core/contracts/money.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';

export type ExperimentRow = {
  experiment_id: string;
  name: string;
  dataset_id: string;
  dataset_version: number;
  split: string | null;
  target: unknown;
  baseline_experiment_id: string | null;
  evaluators: { id: string; version: number }[];
  repetitions: number;
  seed: string;
  concurrency: number;
  cache: 'on' | 'off';
  max_cost_nano: string | null;
  spent_nano: string;
  judge_spent_nano: string;
  state: ExperimentState;
  paused_reason: string | null;
  rules: string[] | null;
  early_stop: EarlyStopRule | null;
  stopped: Stop | null;
  git: unknown;
  created_at: Date;
  updated_at: Date;
  finished_at: Date | null;
  runs: number;
  pending: number;
  running: number;
  completed: number;
  failed: number;
  skipped: number;
  ungraded: number;
};

/**
 * Returns the statement part that counts the runs of an experiment `x`, and the evaluations that are to be done for it: those of
 * an answer whose record is not stored yet are still to be made.
 */
export function counts(tx: TransactionSql) {
  return tx`
    cross join lateral (
      select count(*)::int4 as runs,
             count(*) filter (where r.state = 'pending')::int4 as pending,
             count(*) filter (where r.state = 'running')::int4 as running,
             count(*) filter (where r.state = 'completed')::int4 as completed,
             count(*) filter (where r.state = 'error')::int4 as failed,
             count(*) filter (where r.state = 'skipped')::int4 as skipped
        from assay.experiment_runs r where r.experiment_id = x.experiment_id) n
    cross join lateral (
      select (select count(*) from assay.evaluations e
               where e.run_id = x.experiment_id and e.state in ('pending', 'running', 'paused'))::int4
           + (select count(*) from assay.experiment_calls c
                join assay.experiment_runs r on r.organization_id = c.organization_id and r.request_id = c.request_id
               where c.experiment_id = x.experiment_id and not c.is_recorded
                 and r.experiment_id = x.experiment_id)::int4 * jsonb_array_length(x.evaluators) as ungraded) g`;
}

export function experimentJson(row: ExperimentRow): ExperimentJson {
  return {
    id: row.experiment_id,
    name: row.name,
    dataset_id: row.dataset_id,
    dataset_version: row.dataset_version,
    split: row.split,
    target: row.target,
    baseline_id: row.baseline_experiment_id,
    evaluators: row.evaluators,
    repetitions: row.repetitions,
    seed: Number(row.seed),
    concurrency: row.concurrency,
    cache: row.cache === 'on',
    max_cost_usd: usdOrNull(row.max_cost_nano),
    cost_usd: nanoToUsd(row.spent_nano),
    judge_cost_usd: nanoToUsd(row.judge_spent_nano),
    state: row.state,
    paused_reason: row.paused_reason,
    rules: row.rules,
    early_stop: row.early_stop && {
      evaluator_id: row.early_stop.evaluatorId,
      margin: row.early_stop.margin,
    },
    stopped: row.stopped,
    git: row.git,
    runs: row.runs,
    pending: row.pending,
    running: row.running,
    completed: row.completed,
    failed: row.failed,
    skipped: row.skipped,
    ungraded: row.ungraded,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}

export type RunRow = {
  item_id: string;
  repetition: number;
  position: number;
  state: ExperimentRunState;
  request_id: string | null;
  attempts: number;
  error_code: string | null;
  error_message: string | null;
  finished_at: Date | null;
};

export function runJson(row: RunRow): ExperimentRunJson {
  return {
    item_id: row.item_id,
    repetition: row.repetition,
    position: row.position,
    state: row.state,
    request_id: row.request_id,
    attempts: row.attempts,
    error_code: row.error_code,
    error_message: row.error_message,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}
