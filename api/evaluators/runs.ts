/** Scoring of history: a run walks the requests that pass a filter, from the newest back. The evaluators do the walking. */
import { AssayError } from '#core/contracts/errors.ts';
import { filterOf } from '#core/contracts/filter-or-q.ts';
import type { RunState, ScoringType } from '#core/evaluations/mod.ts';
import { parseFilter } from '#core/filter/mod.ts';
import { storableJson } from '#core/json/mod.ts';
import { inOrganization, noteUrgent, type TransactionSql } from '#platform/postgres/mod.ts';
import { unknown } from '../ids.ts';
import { usdToNano } from '../requests/mod.ts';
import { announceRuns } from './announce-work.ts';
import type { RunBody } from './bodies.ts';
import type { Context } from './context.ts';
import { type DryRunJson, dryRun } from './dry-run.ts';
import { refusePairwise } from './refuse-pairwise.ts';
import { refuseImported, requireEvaluator } from './rules.ts';
import { type RunJson, type RunRow, runJson, type StoredState, stateOf } from './run-json.ts';
import { setStates } from './set-states.ts';
import { lockEvaluators } from './store.ts';

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
        count(*) filter (where state in ('pending', 'running', 'paused'))::int4 as pending,
        coalesce(sum(cost_nano), 0)::int8 as cost_nano
      from assay.evaluations e
      where e.organization_id = ${organizationId} and e.run_id = r.run_id) n
    order by r.created_at desc, r.run_id desc`;
}

/** @throws AssayError not_found */
export async function findRun(
  tx: TransactionSql,
  organizationId: string,
  evaluatorId: string,
  runId: string,
): Promise<RunJson> {
  const [run] = await findRuns(tx, organizationId, evaluatorId, runId);
  if (run === undefined) throw unknown('run', runId);
  return runJson(run);
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

/** @throws AssayError invalid_body for what the evaluator's type has not */
function refuseForeign(scoringType: ScoringType, { batch, maxCost }: RunBody): void {
  const foreign = (member: string) =>
    new AssayError('invalid_body', `${member} does not belong to the scoring_type ${scoringType}`);
  if (batch === true && scoringType !== 'PYTHON') throw foreign('batch');
  if (maxCost !== undefined && !scoringType.startsWith('LLM-')) throw foreign('maxCost');
}

/**
 * Returns what a run may cost in nano-dollars; null: no limit.
 * @throws AssayError invalid_body
 */
export function maxCostOf({ maxCost }: Pick<RunBody, 'maxCost'>): number | null {
  if (maxCost === undefined) return null;
  const nano = usdToNano(maxCost);
  if (nano !== null) return nano;
  throw new AssayError('invalid_body', `maxCost must have at most nine decimals, but is ${maxCost}`);
}

export function createRuns(context: Context): Runs {
  const { sql, clock } = context;

  /** Moves a run from a state in `from` to `to`; a run already in `to` stays, one in any other state is a conflict. */
  async function move(
    [organizationId, evaluatorId, runId]: readonly [string, string, string],
    { from, to, what }: { from: readonly RunState[]; to: RunState & StoredState; what: string },
  ): Promise<RunRow> {
    noteUrgent();
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
        update assay.evaluation_runs
           set state = case when ${to} = 'running' and baseline_experiment_id is not null then 'scheduled' else ${to} end,
               updated_at = ${at}
        where organization_id = ${organizationId} and run_id = ${runId}`;
      if (to === 'running') await announceRuns(tx);
      return run;
    });
  }

  async function get(organizationId: string, evaluatorId: string, runId: string): Promise<RunJson> {
    return inOrganization(sql, organizationId, async (tx) => {
      await requireEvaluator(tx, organizationId, evaluatorId);
      return await findRun(tx, organizationId, evaluatorId, runId);
    });
  }

  return {
    get,

    async create(organizationId, evaluatorId, body) {
      const filter = filterOf(body);
      parseFilter(filter);
      if (body.sample !== undefined && body.limit !== undefined) {
        throw new AssayError('invalid_body', 'limit and sample exclude each other: sample.n is the limit');
      }
      const maxCostNano = maxCostOf(body);
      if (body.dryRun === true)
        return dryRun(context, { organizationId, evaluatorId, ...body, filter, maxCostNano });
      const { sample, batch = false } = body;
      const limit = sample?.n ?? body.limit ?? null;
      return inOrganization(sql, organizationId, async (tx) => {
        await lockEvaluators(tx, organizationId);
        const evaluator = await requireEvaluator(tx, organizationId, evaluatorId);
        refuseImported(evaluator);
        refusePairwise(evaluator.scoring_type);
        refuseForeign(evaluator.scoring_type, body);
        await refuseTooMany(tx, organizationId);
        const at = new Date(clock.now());
        const [made] = await tx<{ run_id: string }[]>`
          insert into assay.evaluation_runs
            (organization_id, evaluator_id, version, filter, max_requests, sample_size, sample_seed, max_cost_nano, batch,
             until, created_at, updated_at)
          values
            (${organizationId}, ${evaluatorId}, ${evaluator.version}, ${storableJson(filter).text}::text::jsonb,
             ${limit}, ${sample?.n ?? null}, ${sample?.seed ?? null}::int8, ${maxCostNano}::int8,
             ${batch}, ${at}, ${at}, ${at})
          returning run_id`;
        await announceRuns(tx);
        return await findRun(tx, organizationId, evaluatorId, made!.run_id);
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
