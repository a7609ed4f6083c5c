/** Keeps the totals of sessions, in the transaction that stores the records: each record counts once. */
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';
import type { StorableRecord } from './build-record.ts';
import type { RequestRow } from './request-row.ts';
import { StepErrors } from './step-errors.ts';

/** The sums that the new records of one session add to it. */
type Addition = {
  organization_id: string;
  session_id: string;
  first_at: Date;
  last_at: Date;
  requests: number;
  timed_requests: number;
  latency_ms: number;
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  cost_nano: number | null;
  name: string | null;
  named_at: Date | null;
  /** Every name in the records. */
  names: Set<string>;
};

/**
 * Adds new records, which no earlier transaction may have counted, to their sessions. Costs nothing when none has a session.
 *
 * Sessions are changed in the order of their ids, and last in the transaction: two processes that store requests of the same
 * sessions wait for each other, briefly, and never both.
 */
export async function countSessions(tx: TransactionSql, records: readonly StorableRecord[]): Promise<void> {
  const additions = additionsOf(records);
  if (additions.length === 0) return;
  const names = additions.flatMap(({ organization_id, session_id, names: each }) =>
    [...each].map((name) => ({ organization_id, session_id, name })),
  );
  // Sent together: Postgres continues with the next statement without waiting for this process.
  const [began] = await Promise.all([upsertSessions(tx, additions), insertNames(tx, names)]);
  if (began.length === 0) return;
  const organizations = began.flatMap(({ organization_id: id }) => [id, id]);
  const moments = began.flatMap(({ first_at, was_first_at }) => [first_at, was_first_at ?? first_at]);
  await tx`
    select assay.mark_session_spans(${organizations}::uuid[],
      ${moments.map((moment) => moment.toISOString())}::timestamptz[])`;
}

function additionsOf(records: readonly StorableRecord[]): Addition[] {
  const additions = new Map<string, Addition>();
  for (const { request } of records) {
    if (request.session_id === null || request.source === 'evaluator') continue;
    const key = `${request.organization_id} ${request.session_id}`;
    const known = additions.get(key);
    if (known === undefined) additions.set(key, newAddition(request, request.session_id));
    else addRequest(known, request);
  }
  return [...additions.values()];
}

function newAddition(request: RequestRow, sessionId: string): Addition {
  const addition: Addition = {
    organization_id: request.organization_id,
    session_id: sessionId,
    first_at: request.created_at,
    last_at: request.created_at,
    requests: 0,
    timed_requests: 0,
    latency_ms: 0,
    prompt_tokens: 0,
    completion_tokens: 0,
    total_tokens: 0,
    cost_nano: null,
    name: null,
    named_at: null,
    names: new Set(),
  };
  addRequest(addition, request);
  return addition;
}

function addRequest(addition: Addition, request: RequestRow): void {
  const at = request.created_at;
  if (at < addition.first_at) addition.first_at = at;
  if (at > addition.last_at) addition.last_at = at;
  addition.requests += 1;
  if (request.latency_ms !== null) addition.timed_requests += 1;
  addition.latency_ms += request.latency_ms ?? 0;
  addition.prompt_tokens += request.prompt_tokens ?? 0;
  addition.completion_tokens += request.completion_tokens ?? 0;
  addition.total_tokens += request.total_tokens ?? 0;
  if (request.cost_nano !== null) addition.cost_nano = (addition.cost_nano ?? 0) + request.cost_nano;
  if (request.session_name !== null) addName(addition, request.session_name, at);
}

/** Notes a name. The greater of two at the same moment counts as the newer, as in the functions of Postgres. */
function addName(addition: Addition, name: string, at: Date): void {
  addition.names.add(name);
  const { name: known, named_at: knownAt } = addition;
  const isNewer =
    known === null ||
    knownAt === null ||
    at > knownAt ||
    (at.getTime() === knownAt.getTime() && Buffer.compare(Buffer.from(name), Buffer.from(known)) > 0);
  if (!isNewer) return;
  addition.name = name;
  addition.named_at = at;
}

/** A session that began twelve hours ago or earlier and was short until now: its span is to be marked. */
type LateChange = { organization_id: string; first_at: Date; was_first_at: Date | null };

async function upsertSessions(tx: TransactionSql, additions: readonly Addition[]): Promise<LateChange[]> {
  const texts = <Name extends keyof Addition>(name: Name) =>
    additions.map((addition) => {
      const value = addition[name];
      return value instanceof Date ? value.toISOString() : (value as string | number | null);
    });
  return await tx<LateChange[]>`
    with changed as (
      insert into assay.sessions as s (organization_id, session_id, first_at, last_at, requests, timed_requests,
        latency_ms, prompt_tokens, completion_tokens, total_tokens, cost_nano, name, named_at)
      select * from unnest(${texts('organization_id')}::uuid[], ${texts('session_id')}::text[],
        ${texts('first_at')}::timestamptz[], ${texts('last_at')}::timestamptz[], ${texts('requests')}::int8[],
        ${texts('timed_requests')}::int8[], ${texts('latency_ms')}::int8[], ${texts('prompt_tokens')}::int8[],
        ${texts('completion_tokens')}::int8[], ${texts('total_tokens')}::int8[], ${texts('cost_nano')}::int8[],
        ${texts('name')}::text[], ${texts('named_at')}::timestamptz[])
        as added (organization_id, session_id)
       order by organization_id, session_id collate "C"
      on conflict (organization_id, session_id) do update set
        first_at = least(s.first_at, excluded.first_at),
        last_at = greatest(s.last_at, excluded.last_at),
        requests = s.requests + excluded.requests,
        timed_requests = s.timed_requests + excluded.timed_requests,
        latency_ms = s.latency_ms + excluded.latency_ms,
        prompt_tokens = s.prompt_tokens + excluded.prompt_tokens,
        completion_tokens = s.completion_tokens + excluded.completion_tokens,
        total_tokens = s.total_tokens + excluded.total_tokens,
        cost_nano = case when excluded.cost_nano is null then s.cost_nano
                         else coalesce(s.cost_nano, 0) + excluded.cost_nano end,
        name = case when s.named_at is null or (excluded.named_at, excluded.name) > (s.named_at, s.name)
                    then excluded.name else s.name end,
        named_at = greatest(s.named_at, excluded.named_at),
        was_long = s.is_long,
        was_first_at = s.first_at
      returning organization_id, first_at, was_long, was_first_at)
    select organization_id, first_at, was_first_at from changed where not was_long and first_at < now() - interval '12 hours'`;
}

async function insertNames(
  tx: TransactionSql,
  names: readonly { organization_id: string; session_id: string; name: string }[],
): Promise<void> {
  if (names.length === 0) return;
  await tx`
    insert into assay.session_names (organization_id, session_id, name)
    select * from unnest(${names.map((one) => one.organization_id)}::uuid[],
      ${names.map((one) => one.session_id)}::text[], ${names.map((one) => one.name)}::text[])
      as named (organization_id, session_id, name)
     order by organization_id, session_id collate "C", name collate "C"
    on conflict do nothing`;
}

/** Sessions of one statement: few enough that no ingest process waits long for one of them. */
const RECOUNTED_AT_ONCE = 200;

/**
 * Requests of one statement, of which a hundred thousand take half a second: a session with more is counted by itself, so
 * that its neighbours neither wait for it nor fail with it.
 */
const REQUESTS_AT_ONCE = 20_000;

type OldSession = { first_at: Date; session_id: string; requests: number };

/**
 * Removes the sessions whose requests were all before `cutoff`, where no records are left, and counts those that go on after it
 * again. A round that was interrupted is continued by the next one.
 * @throws after the last session, the errors of those that could not be counted
 */
export async function dropSessions(sql: Sql, cutoff: Date): Promise<void> {
  const errors = new StepErrors();
  const organizations = await sql<{ id: string }[]>`select organization_id as id from assay.organizations`;
  for (const { id } of organizations) {
    let last: Omit<OldSession, 'requests'> = { first_at: new Date(0), session_id: '' };
    for (;;) {
      const old = await sql<OldSession[]>`
        select first_at, session_id, requests::float8 as requests from assay.sessions
         where organization_id = ${id} and first_at < ${cutoff}
           and (first_at, session_id) > (${last.first_at}, ${last.session_id})
         order by first_at, session_id limit ${RECOUNTED_AT_ONCE}`;
      if (old.length === 0) break;
      for (const ids of groupSessions(old)) {
        await errors.run(async () => void (await sql`select assay.recount_sessions(${id}, ${ids}::text[])`));
      }
      last = old.at(-1)!;
    }
    await sql`
      delete from assay.session_spans
       where organization_id = ${id} and began_at < ${cutoff}::timestamptz - interval '1 week'`;
  }
  errors.throwIfAny();
}

/** Returns the ids in groups, one for each statement. */
function groupSessions(sessions: readonly OldSession[]): string[][] {
  const groups: string[][] = [];
  let requests = Number.POSITIVE_INFINITY;
  for (const session of sessions) {
    if (requests + session.requests > REQUESTS_AT_ONCE) {
      groups.push([]);
      requests = 0;
    }
    groups.at(-1)!.push(session.session_id);
    requests += session.requests;
  }
  return groups;
}
