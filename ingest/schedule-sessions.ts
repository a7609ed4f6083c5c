/**
 * Schedules the evaluations of sessions, in the transaction that stores their requests: each session has at most one that waits,
 * which moves to the newest request and is due once the session has been silent for as long as its evaluator says.
 */
import { EVALUATIONS_CHANNEL } from '#core/contracts/channels.ts';
import { laneOf } from '#core/scoring/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import type { StorableRecord } from './build-record.ts';
import type { Chosen } from './filter-records.ts';

/** The newest of the new requests of one session, for one evaluator. */
type Due = {
  organizationId: string;
  evaluatorId: string;
  version: number;
  lane: string;
  idleSeconds: number;
  sessionId: string;
  createdAt: string;
  requestId: string;
  /** Some of the new requests passes the evaluator's filters. */
  passes: boolean;
};

/**
 * Schedules the evaluations of the sessions of the chosen records, which no earlier transaction may have stored. Their sessions must
 * be locked, as `countSessions` does: so no other process schedules for them at the same time.
 * @returns the number of sessions that got an evaluation that waits, and had none
 */
export async function scheduleSessions(tx: TransactionSql, chosen: readonly Chosen[]): Promise<number> {
  const due = chosen.flatMap((one) => (one.evaluator.scope === 'session' ? sessionsOf(one) : []));
  if (due.length === 0) return 0;
  const column = <Name extends keyof Due>(name: Name) => due.map((one) => one[name]);
  const rows = tx`
    unnest(${column('organizationId')}::uuid[], ${column('evaluatorId')}::uuid[], ${column('version')}::int4[],
           ${column('lane')}::text[], ${column('idleSeconds')}::int4[], ${column('sessionId')}::text[],
           ${column('createdAt')}::timestamptz[], ${column('requestId')}::text[], ${due.map((one) => String(one.passes))}::bool[])
      as due (organization_id, evaluator_id, version, lane, idle_seconds, session_id, created_at, request_id, passes)`;
  const ofSession = tx`
    e.organization_id = due.organization_id and e.session_id = due.session_id and e.evaluator_id = due.evaluator_id`;
  const waits = tx`e.run_id is null and e.state in ('pending', 'paused')`;
  // One of each session: a process that gave up its lease may have left an older one, which stays where it is.
  await tx`
    with waiting as (
      select distinct on (e.organization_id, e.session_id, e.evaluator_id) e.evaluation_id, due.*
        from ${rows} join assay.evaluations e on ${ofSession} and ${waits}
       order by e.organization_id, e.session_id, e.evaluator_id, e.created_at desc, e.request_id desc)
    update assay.evaluations e
       set created_at = w.created_at, request_id = w.request_id, version = w.version, lane = w.lane, attempts = 0,
           due_at = now() + w.idle_seconds * interval '1 second', scheduled_at = now(), error_code = null, error_message = null,
           -- What an attempt said of the session as it was, which a jury would count.
           members = null, reasoning = null, traces = null, flags = '{}', warnings = '{}'
      from waiting w
     where e.evaluation_id = w.evaluation_id and e.state in ('pending', 'paused')
       and (e.created_at, e.request_id) < (w.created_at, w.request_id)`;
  const { count } = await tx`
    insert into assay.evaluations
      (organization_id, evaluator_id, version, created_at, request_id, session_id, lane, priority, due_at, scheduled_at)
    select due.organization_id, due.evaluator_id, due.version, due.created_at, due.request_id, due.session_id, due.lane, 0,
           now() + due.idle_seconds * interval '1 second', now()
      from ${rows}
     where (due.passes or exists (select from assay.evaluations e where ${ofSession} and e.run_id is null))
       and not exists (select from assay.evaluations e where ${ofSession} and ${waits})
    on conflict do nothing`;
  // An evaluation that was moved is due later than a waiting worker expects: only new ones are announced.
  if (count > 0) await tx`select pg_notify(${EVALUATIONS_CHANNEL}, '')`;
  return count;
}

function sessionsOf({ evaluator, sampled, passing }: Chosen): Due[] {
  const { organizationId, evaluatorId, version, scoringType, adapter, idleSeconds } = evaluator;
  const passes = new Set(passing);
  const bySession = Map.groupBy(sampled, ({ request }) => request.session_id!);
  return [...bySession].map(([sessionId, own]) => {
    const { request } = own.reduce((newest, one) => (isNewer(one, newest) ? one : newest));
    return {
      organizationId,
      evaluatorId,
      version,
      lane: laneOf(scoringType, adapter),
      idleSeconds,
      sessionId,
      createdAt: request.created_at.toISOString(),
      requestId: request.request_id,
      passes: own.some((record) => passes.has(record)),
    };
  });
}

/** By time and id, as Postgres compares them: ids are in its order of bytes. */
function isNewer({ request: one }: StorableRecord, { request: other }: StorableRecord): boolean {
  const difference = one.created_at.getTime() - other.created_at.getTime();
  if (difference !== 0) return difference > 0;
  return Buffer.compare(Buffer.from(one.request_id), Buffer.from(other.request_id)) > 0;
}
