/** A run as a row, and as the API shows it. */
import { type Static, Type } from '@sinclair/typebox';
import { closed, Nullable, OneOf, Timestamp } from '#core/contracts/shapes.ts';
import { RUN_STATES, type RunState } from '#core/evaluations/mod.ts';
import { nanoToUsd, usdOrNull } from '../requests/mod.ts';

export const RunJson = Type.Object(
  {
    id: Type.String(),
    evaluator_id: Type.String(),
    version: Type.Integer(),
    state: OneOf(RUN_STATES),
    filter: Type.Unknown({ description: 'As it was given' }),
    limit: Nullable(Type.Integer()),
    sample: Nullable(Type.Object({ n: Type.Integer(), seed: Nullable(Type.Integer()) }, closed)),
    max_cost_usd: Nullable(Type.Number(), 'What its judges may cost; null: no limit'),
    cost_usd: Type.Number({ description: 'What its judges cost so far, where their price is known' }),
    batch: Type.Boolean(),
    experiments: Nullable(
      Type.Object({ baseline: Type.String(), candidate: Type.String() }, closed),
      'The experiments whose pairs it judges; null: it is over requests',
    ),
    looking_for: Nullable(
      OneOf<'sample' | 'requests'>(['sample', 'requests']),
      'What it looks through the log for, from the newest request back: the bounds of its sample, then the requests to score; null: all are scheduled, or it is over pairs, cancelled or at the end of its budget',
    ),
    reached: Nullable(Timestamp, 'The moment down to which it has looked for that; null: it has not begun'),
    scheduled: Type.Integer({
      description: 'Evaluations so far; the next five say how many of them are in which state',
    }),
    completed: Type.Integer(),
    failed: Type.Integer(),
    skipped: Type.Integer(),
    cancelled: Type.Integer(),
    pending: Type.Integer(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { ...closed, $id: 'Run' },
);
export type RunJson = Static<typeof RunJson>;

/** `scheduled`: the walk has ended. */
export type StoredState = 'running' | 'paused' | 'cancelled' | 'scheduled' | 'budget';

export type RunRow = {
  run_id: string;
  evaluator_id: string;
  version: number;
  state: StoredState;
  filter: unknown;
  max_requests: number | null;
  sample_size: number | null;
  sample_seed: string | null;
  max_cost_nano: string | null;
  cost_nano: string;
  batch: boolean;
  baseline_experiment_id: string | null;
  candidate_experiment_id: string | null;
  cursor_created_at: Date | null;
  sample_until: string | null;
  scheduled: number;
  created_at: Date;
  updated_at: Date;
  completed: number;
  failed: number;
  skipped: number;
  cancelled: number;
  pending: number;
};

/** Returns the state of a run as the API shows it. */
export function stateOf({ state, pending }: RunRow): RunState {
  if (state !== 'scheduled') return state;
  return pending === 0 ? 'completed' : 'running';
}

function lookingFor(run: RunRow): RunJson['looking_for'] {
  const { state, baseline_experiment_id, sample_size, sample_until } = run;
  if ((state !== 'running' && state !== 'paused') || baseline_experiment_id !== null) return null;
  return sample_size !== null && sample_until === null ? 'sample' : 'requests';
}

const sampleJson = (n: number, seed: string | null) => ({ n, seed: seed === null ? null : Number(seed) });

/** Returns a run as the API shows it. */
export function runJson(row: RunRow): RunJson {
  return {
    id: row.run_id,
    evaluator_id: row.evaluator_id,
    version: row.version,
    state: stateOf(row),
    filter: row.filter,
    limit: row.sample_size === null ? row.max_requests : null,
    sample: row.sample_size === null ? null : sampleJson(row.sample_size, row.sample_seed),
    max_cost_usd: usdOrNull(row.max_cost_nano),
    cost_usd: nanoToUsd(row.cost_nano),
    batch: row.batch,
    experiments:
      row.baseline_experiment_id === null
        ? null
        : { baseline: row.baseline_experiment_id, candidate: row.candidate_experiment_id! },
    looking_for: lookingFor(row),
    reached: row.cursor_created_at?.toISOString() ?? null,
    scheduled: row.scheduled,
    completed: row.completed,
    failed: row.failed,
    skipped: row.skipped,
    cancelled: row.cancelled,
    pending: row.pending,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
