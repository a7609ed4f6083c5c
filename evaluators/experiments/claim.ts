/**
 * Claims runs of experiments, as evaluations are claimed: by leases. A run whose process died has perhaps been answered: the
 * claim names its request before the call, so the next claim finds the record and takes its answer instead of calling again.
 *
 * An experiment's row stays locked while its runs are claimed, so that its concurrency and its budget hold whichever
 * processes claim at once.
 */
import {
  type CalledTarget,
  type ItemContent,
  longestTokens,
  type Prices,
  requestOf,
} from '#core/experiments/mod.ts';
import { type JsonObject, parseExactJson } from '#core/json/mod.ts';
import { type JudgmentPrice, readJudgmentPrices } from '#platform/evaluations/mod.ts';
import { completeExperiment } from '#platform/experiments/mod.ts';
import { isStoreUnavailable, type Sql, type TransactionSql } from '#platform/postgres/mod.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { fairShares, LEASE_MS } from '../queue/mod.ts';
import type { Claimed, Room } from '../worker/mod.ts';
import { endsEarly, type LookedAt } from './early-stop.ts';
import type { ExperimentJob, RunKey } from './job.ts';
import { reservedForCalls, reservedForJudgments } from './reserved.ts';

export type ClaimOptions = {
  /** Returns an upper estimate of what a call costs in nano-dollars; null: its price is not known. */
  estimate(target: CalledTarget, item: ItemContent): number | null;
  /** Prices judgments before they are made. */
  prices: Prices;
  nowMs(): number;
  /** Called with the error of a claim that failed, which keeps back the runs of that organization alone. */
  onFailed(organizationId: string, error: unknown): void;
};

type Due = RunKey & { claim: number; attempt: number; callId: string | null };

type Experiment = {
  experimentId: string;
  organizationId: string;
  target: CalledTarget;
  usesCache: boolean;
  room: number;
  /** Money that is left beside the judgments that are open, in nano-dollars; null: no limit. */
  leftNano: number | null;
  /** Calls whose cost is not known yet. */
  open: number;
  evaluators: { id: string; version: number }[];
} & LookedAt;

/** Claims due runs, in the order of their experiments' seeds. */
export async function claimRuns(
  sql: Sql,
  room: Room,
  options: ClaimOptions,
): Promise<Claimed<ExperimentJob>> {
  const open = await openWork(sql);
  const dueInMs = open.length === 0 ? null : Math.min(...open.map((one) => one.dueInMs));
  const organizations = open.filter((one) => one.dueInMs === 0).map(({ organizationId }) => organizationId);
  const shares = fairShares(organizations, room);
  const jobs: ExperimentJob[] = [];
  for (const [organizationId, share] of shares) {
    try {
      await claimOf(sql, organizationId, share, options, jobs);
    } catch (error) {
      // In either case, what was claimed before is leased to this process, which must not lose it.
      if (isStoreUnavailable(error)) break;
      options.onFailed(organizationId, error);
    }
  }
  return { jobs, dueInMs };
}

/** Returns the organizations with open runs, with the time until their next is due. */
async function openWork(sql: Sql): Promise<{ organizationId: string; dueInMs: number }[]> {
  return await sql<{ organizationId: string; dueInMs: number }[]>`
    select x.organization_id as "organizationId",
           min(greatest(0, extract(epoch from next.due_at - now()) * 1000))::float8 as "dueInMs"
      from assay.experiments x
     cross join lateral (
       select coalesce(
         (select r.due_at from assay.experiment_runs r
           where r.experiment_id = x.experiment_id and r.state in ('pending', 'running') and r.due_at <= now()
           order by r.position limit 1),
         (select min(r.due_at) from assay.experiment_runs r
           where r.experiment_id = x.experiment_id and r.state in ('pending', 'running'))) as due_at) next
     where x.state = 'running' and next.due_at is not null and x.target ->> 'kind' <> 'external'
     group by x.organization_id`;
}

/** Adds at most `share` runs of an organization to `jobs`. */
async function claimOf(
  sql: Sql,
  organizationId: string,
  share: number,
  options: ClaimOptions,
  jobs: ExperimentJob[],
): Promise<void> {
  const running = await sql<{ id: string }[]>`
    select experiment_id as id from assay.experiments
     where organization_id = ${organizationId} and state = 'running' and target ->> 'kind' <> 'external'
     order by created_at`;
  let left = share;
  for (const { id } of running) {
    if (left === 0) break;
    // One experiment a transaction: one that waits for a row holds no other.
    const claimed = await sql.begin(async (tx) => {
      const experiment = await lockExperiment(tx, id);
      const limit = Math.min(experiment?.room ?? 0, left);
      if (experiment === null || limit <= 0) return [];
      if (await endsEarly(tx, experiment)) return [];
      const due = await adoptAnswered(tx, experiment, await lockDue(tx, experiment, limit));
      return await claimWithinBudget(tx, experiment, due, options);
    });
    jobs.push(...claimed);
    left -= claimed.length;
  }
}

/** Locks an experiment; null: it does not run any more. */
async function lockExperiment(tx: TransactionSql, experimentId: string): Promise<Experiment | null> {
  const locked = await tx`
    select from assay.experiments
     where experiment_id = ${experimentId} and state = 'running' for no key update`;
  if (locked.length === 0) return null;
  // A statement of its own: it sees what was committed while the first one waited.
  const [experiment] = await tx<Experiment[]>`
    select x.experiment_id as "experimentId", x.organization_id as "organizationId", x.target,
           x.cache = 'on' as "usesCache", x.concurrency - held.count as room,
           (x.max_cost_nano - x.spent_nano - x.judge_spent_nano - reserved.nano)::float8 as "leftNano",
           held.count + reserved.count as open, x.evaluators, x.early_stop as "earlyStop", x.looked_runs as "lookedRuns",
           x.looked_pairs as "lookedPairs"
      from assay.experiments x
     cross join lateral (
       select count(*)::int4 as count from assay.experiment_runs r
        where r.experiment_id = x.experiment_id and r.state = 'running' and r.due_at > now()) held
     cross join lateral (${reservedForCalls(tx)}) reserved
     where x.experiment_id = ${experimentId}`;
  return experiment!;
}

async function lockDue(tx: TransactionSql, { experimentId }: Experiment, limit: number): Promise<Due[]> {
  return await tx<Due[]>`
    select experiment_id as "experimentId", item_id as "itemId", repetition, claims + 1 as claim,
           attempts + 1 as attempt, call_id as "callId"
      from assay.experiment_runs
     where experiment_id = ${experimentId} and state in ('pending', 'running') and due_at <= now()
     order by position limit ${limit} for update skip locked`;
}

/** Completes the runs whose earlier call was answered before its process could say so; returns the others. */
async function adoptAnswered(
  tx: TransactionSql,
  { experimentId, organizationId }: Experiment,
  due: readonly Due[],
): Promise<Due[]> {
  const earlierCalls = due.flatMap(({ callId }) => callId ?? []);
  if (earlierCalls.length === 0) return [...due];
  const answered = await tx<{ callId: string }[]>`
    update assay.experiment_runs r
       set state = 'completed', request_id = r.call_id, error_code = null, error_message = null, finished_at = now()
      from assay.requests q
     where r.experiment_id = ${experimentId} and r.call_id = any(${earlierCalls}::text[]) and r.state in ('pending', 'running')
       and q.organization_id = ${organizationId} and q.request_id = r.call_id and q.status = 200 and q.error_code is null
    returning r.call_id as "callId"`;
  const ids = new Set(answered.map(({ callId }) => callId));
  if (ids.size > 0) await completeExperiment(tx, experimentId);
  return due.filter(({ callId }) => callId === null || !ids.has(callId));
}

/** An item, with its request and metadata as JSON texts; the request is null once its content was erased. */
type ItemRow = { itemId: string; request: string | null; metadata: string };

/** Claims the due runs that the budget admits, and notes what their calls, and the judgments of their answers, may cost. */
async function claimWithinBudget(
  tx: TransactionSql,
  experiment: Experiment,
  due: readonly Due[],
  { estimate, prices, nowMs }: ClaimOptions,
): Promise<ExperimentJob[]> {
  if (due.length === 0) return [];
  const { leftNano: admitted, open, judgments } = await admit(tx, experiment, { prices, nowMs });
  const { experimentId, organizationId, target, usesCache } = experiment;
  const rows = await tx<ItemRow[]>`
    select i.item_id as "itemId", i.request, i.metadata
      from assay.experiments x
      join assay.dataset_items i on i.dataset_id = x.dataset_id and i.from_version <= x.dataset_version
                                and (i.to_version is null or i.to_version > x.dataset_version)
     where x.experiment_id = ${experimentId} and i.item_id = any(${due.map(({ itemId }) => itemId)}::text[])`;
  const items = new Map(rows.map((row) => [row.itemId, row]));
  const jobs: ExperimentJob[] = [];
  const costs: number[] = [];
  let leftNano = admitted;
  for (const one of due) {
    const row = items.get(one.itemId);
    const item =
      row === undefined || row.request === null
        ? null
        : {
            request: parseExactJson(row.request) as JsonObject,
            metadata: parseExactJson(row.metadata) as JsonObject,
          };
    const cost = item === null ? 0 : (estimate(target, item) ?? 0) + judgmentsOf(judgments, target, item);
    if (leftNano !== null && (leftNano <= 0 || cost > leftNano)) break;
    if (leftNano !== null) leftNano -= cost;
    costs.push(cost);
    jobs.push({ ...one, organizationId, callId: newRequestId(), target, usesCache, item });
  }
  if (jobs.length === 0 && open === 0) await endForBudget(tx, experimentId);
  if (jobs.length > 0) await writeClaims(tx, experiment, jobs, costs);
  return jobs;
}

/** Money that a locked experiment has left, its open calls and judgments, and the prices of these; of one without a limit nothing is read. */
type Admitted = { leftNano: number | null; open: number; judgments: readonly JudgmentPrice[] };

async function admit(
  tx: TransactionSql,
  { experimentId, organizationId, leftNano, open, evaluators }: Experiment,
  { prices, nowMs }: Pick<ClaimOptions, 'prices' | 'nowMs'>,
): Promise<Admitted> {
  if (leftNano === null || leftNano <= 0) return { leftNano, open, judgments: [] };
  const judgments = await readJudgmentPrices(tx, organizationId, evaluators, { prices, atMs: nowMs() });
  if (judgments.size === 0) return { leftNano, open, judgments: [] };
  const reserved = await reservedForJudgments(tx, experimentId, judgments);
  return {
    leftNano: leftNano - reserved.nano,
    open: open + reserved.count,
    judgments: [...judgments.values()],
  };
}

/** Returns the most that the judgments of an item's answer are likely to cost. */
function judgmentsOf(judgments: readonly JudgmentPrice[], target: CalledTarget, item: ItemContent): number {
  if (judgments.length === 0) return 0;
  const request = requestOf(target, item);
  if ('skipped' in request) return 0;
  const { prompt: promptTokens, completion: answerTokens } = longestTokens(request.body);
  return judgments.reduce((sum, price) => sum + (price.of({ promptTokens, answerTokens })?.mostNano ?? 0), 0);
}

async function writeClaims(
  tx: TransactionSql,
  { experimentId, organizationId }: Experiment,
  jobs: readonly ExperimentJob[],
  costs: readonly number[],
): Promise<void> {
  await tx`
    update assay.experiment_runs r
       set state = 'running', claims = r.claims + 1, attempts = r.attempts + 1, call_id = taken.call_id,
           due_at = now() + ${LEASE_MS} * interval '1 ms'
      from unnest(${jobs.map(({ itemId }) => itemId)}::text[], ${jobs.map(({ repetition }) => repetition)}::int2[],
                  ${jobs.map(({ callId }) => callId)}::text[]) as taken (item_id, repetition, call_id)
     where r.experiment_id = ${experimentId} and r.item_id = taken.item_id and r.repetition = taken.repetition`;
  await tx`
    insert into assay.experiment_calls
      (organization_id, request_id, experiment_id, item_id, cost_nano, is_recorded, begun_at)
    select ${organizationId}, request_id, ${experimentId}, item_id, cost_nano, false, now()
      from unnest(${jobs.map(({ callId }) => callId)}::text[], ${jobs.map(({ itemId }) => itemId)}::text[],
                  ${[...costs]}::int8[]) as begun (request_id, item_id, cost_nano)`;
}

/** Ends an experiment of which nothing is under way, and whose next call would cost more than is left. */
async function endForBudget(tx: TransactionSql, experimentId: string): Promise<void> {
  await tx`
    update assay.experiments set state = 'budget', updated_at = now()
     where experiment_id = ${experimentId} and state = 'running'`;
}
