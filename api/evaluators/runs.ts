/** Scoring of history: a run walks the requests that pass a filter, from the newest back. The evaluators do the walking. */
import { type Static, Type } from '@sinclair/typebox';
import { AssayError } from '#core/contracts/errors.ts';
import { closed, Nullable, OneOf, Timestamp } from '#core/contracts/shapes.ts';
import { parseFilter } from '#core/filter/mod.ts';
import { storableJson } from '#core/json/mod.ts';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import type { RunBody } from './bodies.ts';
import type { Context } from './context.ts';
import { type DryRunJson, dryRun } from './dry-run.ts';
import { requireEvaluator } from './evaluators.ts';
import { unknown } from './ids.ts';
import { setStates } from './set-states.ts';
import { lockEvaluators } from './store.ts';

const RUN_STATES = ['running', 'paused', 'cancelled', 'completed'] as const;
/** `completed`: every request is scheduled, and every evaluation has ended. */
type RunState = (typeof RUN_STATES)[number];

export const RunJson = Type.Object(
  {
    id: Type.String(),
    evaluator_id: Type.String(),
    version: Type.Integer(),
    state: OneOf(RUN_STATES),
    filter: Type.Unknown({ description: 'As it was given' }),
    limit: Nullable(Type.Integer()),
    batch: Type.Boolean(),
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

export type Runs = {
  create(organizationId: string, evaluatorId: string, body: RunBody): Promise<RunJson | DryRunJson>;
  /** Newest first. */
  list(organizationId: string, evaluatorId: string): Promise<RunJson[]>;
  get(organizationId: string, evaluatorId: string, runId: string): Promise<RunJson>;
  pause(organizationId: string, evaluatorId: string, runId: string): Promise<RunJson>;
  resume(organizationId: string, evaluatorId: string, runId: string): Promise<RunJson>;
  cancel(organizationId: string, evaluatorId: string, runId: string): Promise<RunJson>;
};

/** Limit of one organization's open runs: they share the capacity that online evaluation leaves. */
const MAX_OPEN_RUNS = 10;
const MAX_LISTED = 100;

/** `scheduled`: the walk has ended. */
type StoredState = 'running' | 'paused' | 'cancelled' | 'scheduled';

type RunRow = {
  run_id: string;
  evaluator_id: string;
  version: number;
  state: StoredState;
  filter: unknown;
  max_requests: number | null;
  batch: boolean;
  scheduled: number;
  created_at: Date;
  updated_at: Date;
  completed: number;
  failed: number;
  skipped: number;
  cancelled: number;
  pending: number;
};

function stateOf({ state, pending }: RunRow): RunState {
  if (state !== 'scheduled') return state;
  return pending === 0 ? 'completed' : 'running';
}

function runJson(row: RunRow): RunJson {
  return {
    id: row.run_id,
    evaluator_id: row.evaluator_id,
    version: row.version,
    state: stateOf(row),
    filter: row.filter,
    limit: row.max_requests,
    batch: row.batch,
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

/** Selects the runs of an evaluator, or one of them, with the counts of their evaluations. */
async function findRuns(
  tx: TransactionSql,
  organizationId: string,
  evaluatorId: string,
  runId: string | null,
): Promise<RunRow[]> {
  return tx<RunRow[]>`
    select r.*, n.* from (
      select * from assay.evaluation_runs
      where organization_id = ${organizationId} and evaluator_id = ${evaluatorId}
        ${runId === null ? tx`` : tx`and run_id = ${runId}`}
      order by created_at desc, run_id desc limit ${MAX_LISTED}) r
    cross join lateral (
      select
        count(*) filter (where state = 'completed')::int4 as completed,
        count(*) filter (where state in ('error', 'dead'))::int4 as failed,
        count(*) filter (where state = 'skipped')::int4 as skipped,
        count(*) filter (where state = 'cancelled')::int4 as cancelled,
        count(*) filter (where state in ('pending', 'running', 'paused'))::int4 as pending
      from assay.evaluations e
      where e.organization_id = ${organizationId} and e.run_id = r.run_id) n
    order by r.created_at desc, r.run_id desc`;
}

async function refuseTooMany(tx: TransactionSql, organizationId: string): Promise<void> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int4 as count from assay.evaluation_runs
    where organization_id = ${organizationId} and state in ('running', 'paused')`;
  if (row!.count < MAX_OPEN_RUNS) return;
  throw new AssayError(
    'conflict',
    `An organization can have at most ${MAX_OPEN_RUNS} runs that are running or paused`,
  );
}

export function createRuns(context: Context): Runs {
  const { sql, clock } = context;

  /** Moves a run from a state in `from` to `to`; a run already in `to` stays, one in any other state is a conflict. */
  async function move(
    [organizationId, evaluatorId, runId]: readonly [string, string, string],
    { from, to, what }: { from: readonly RunState[]; to: RunState & StoredState; what: string },
  ): Promise<RunRow> {
    return inOrganization(sql, organizationId, async (tx) => {
      await requireEvaluator(tx, organizationId, evaluatorId);
      // A worker holds the row of a run while it schedules a page of it; the next page sees the new state.
      await tx`
        select from assay.evaluation_runs
        where organization_id = ${organizationId} and run_id = ${runId} for update`;
      const [run] = await findRuns(tx, organizationId, evaluatorId, runId);
      if (run === undefined) throw unknown('run', runId);
      const state = stateOf(run);
      if (state === to) return run;
      if (!from.includes(state)) {
        throw new AssayError(
          'conflict',
          `The run is ${state}: only one that is ${from.join(' or ')} can be ${what}`,
        );
      }
      const at = new Date(clock.now());
      await tx`
        update assay.evaluation_runs set state = ${to}, updated_at = ${at}
        where organization_id = ${organizationId} and run_id = ${runId}`;
      return run;
    });
  }

  async function get(organizationId: string, evaluatorId: string, runId: string): Promise<RunJson> {
    return inOrganization(sql, organizationId, async (tx) => {
      await requireEvaluator(tx, organizationId, evaluatorId);
      const [run] = await findRuns(tx, organizationId, evaluatorId, runId);
      if (run === undefined) throw unknown('run', runId);
      return runJson(run);
    });
  }

  return {
    get,

    async create(organizationId, evaluatorId, body) {
      parseFilter(body.filter);
      if (body.dryRun === true) return dryRun(context, { organizationId, evaluatorId, ...body });
      const { limit = null, batch = false } = body;
      return inOrganization(sql, organizationId, async (tx) => {
        await lockEvaluators(tx, organizationId);
        const evaluator = await requireEvaluator(tx, organizationId, evaluatorId);
        if (batch && evaluator.scoring_type !== 'PYTHON') {
          throw new AssayError(
            'invalid_body',
            `batch does not belong to the scoring_type ${evaluator.scoring_type}`,
          );
        }
        await refuseTooMany(tx, organizationId);
        const at = new Date(clock.now());
        const [made] = await tx<{ run_id: string }[]>`
          insert into assay.evaluation_runs
            (organization_id, evaluator_id, version, filter, max_requests, batch, until, created_at, updated_at)
          values
            (${organizationId}, ${evaluatorId}, ${evaluator.version}, ${storableJson(body.filter).text}::text::jsonb,
             ${limit}, ${batch}, ${at}, ${at}, ${at})
          returning run_id`;
        const [run] = await findRuns(tx, organizationId, evaluatorId, made!.run_id);
        return runJson(run!);
      });
    },

    async list(organizationId, evaluatorId) {
      return inOrganization(sql, organizationId, async (tx) => {
        await requireEvaluator(tx, organizationId, evaluatorId);
        return (await findRuns(tx, organizationId, evaluatorId, null)).map(runJson);
      });
    },

    async pause(organizationId, evaluatorId, runId) {
      await move([organizationId, evaluatorId, runId], { from: ['running'], to: 'paused', what: 'paused' });
      await setStates(context, organizationId, { kind: 'run-paused', runId });
      return get(organizationId, evaluatorId, runId);
    },

    async resume(organizationId, evaluatorId, runId) {
      await move([organizationId, evaluatorId, runId], { from: ['paused'], to: 'running', what: 'resumed' });
      await setStates(context, organizationId, { kind: 'run-resumed', runId });
      return get(organizationId, evaluatorId, runId);
    },

    async cancel(organizationId, evaluatorId, runId) {
      await move([organizationId, evaluatorId, runId], {
        from: ['running', 'paused'],
        to: 'cancelled',
        what: 'cancelled',
      });
      await setStates(context, organizationId, { kind: 'run-cancelled', runId });
      return get(organizationId, evaluatorId, runId);
    },
  };
}
