/** Records put straight into the store, for tests and benchmarks of what reads them. */

import { foldProperties, hashProperty, type Properties } from '#core/contracts/properties.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import { newRequestId } from '#platform/process/ids.ts';

/** One request as a test thinks of it; what is left out gets a plain value, or none. */
export type SeedRequest = {
  request_id: string;
  created_at: Date;
  api_key_id: string | null;
  source: string;
  path: string;
  provider: string;
  request_model: string | null;
  response_model: string | null;
  model: string;
  response_id: string | null;
  response_created_at: Date | null;
  status: number;
  latency_ms: number | null;
  ttft_ms: number | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  total_tokens: number | null;
  cost_nano: number | null;
  /** What an answer from the cache would have cost. */
  cost_saved_nano: number | null;
  user_id: string | null;
  prompt_id: string | null;
  prompt_version: string | null;
  session_id: string | null;
  session_name: string | null;
  session_path: string | null;
  experiment_id: string | null;
  cached_from: string | null;
  error_code: string | null;
  truncated: boolean;
  properties: Properties | null;
  inputs: Record<string, unknown> | null;
  feedback_rating: boolean | null;
  feedback_created_at: Date | null;
  scores: Record<string, number>;
  request_text: string;
  response_text: string;
  request_raw: Buffer | null;
  response_raw: Buffer | null;
  preview_in: string | null;
  preview_out: string | null;
};

const DEFAULTS = {
  api_key_id: null,
  source: 'gateway',
  path: '/v1/chat/completions',
  provider: 'OPENAI',
  request_model: 'gpt-4o-mini',
  response_model: 'gpt-4o-mini-2024-07-18',
  model: 'gpt-4o-mini-2024-07-18',
  response_id: null,
  response_created_at: null,
  status: 200,
  latency_ms: 500,
  ttft_ms: null,
  prompt_tokens: null,
  completion_tokens: null,
  total_tokens: null,
  cost_nano: null,
  cost_saved_nano: null,
  user_id: null,
  prompt_id: null,
  prompt_version: null,
  session_id: null,
  session_name: null,
  session_path: null,
  experiment_id: null,
  cached_from: null,
  error_code: null,
  truncated: false,
  properties: null,
  inputs: null,
  feedback_rating: null,
  feedback_created_at: null,
  scores: {},
  request_text: '{}',
  response_text: '{}',
  request_raw: null,
  response_raw: null,
  preview_in: null,
  preview_out: null,
} satisfies Omit<SeedRequest, 'request_id' | 'created_at'>;

/** Fills in what a test left out. */
function seedRequest(given: Partial<SeedRequest>): SeedRequest {
  const created_at = given.created_at ?? new Date();
  return { request_id: newRequestId(created_at.getTime()), ...DEFAULTS, ...given, created_at };
}

/** Inserts requests with their bodies, properties and scores; returns them filled in, in the order given. */
export async function insertRequests(
  sql: Sql,
  organizationId: string,
  given: Partial<SeedRequest>[],
): Promise<SeedRequest[]> {
  const rows = given.map(seedRequest);
  await sql.begin(async (tx) => {
    for (const day of new Set(rows.map((row) => row.created_at.toISOString().slice(0, 10)))) {
      await tx`select assay.ensure_partitions(${day}::date)`;
    }
    for (const [index, row] of rows.entries()) {
      const {
        properties,
        scores,
        request_text,
        response_text,
        request_raw,
        response_raw,
        inputs,
        ...columns
      } = row;
      const folded = foldProperties(properties ?? {});
      const key = { organization_id: organizationId, created_at: row.created_at, request_id: row.request_id };
      const own = {
        ...columns,
        ...key,
        is_stream: row.ttft_ms !== null,
        request_properties: properties === null ? null : tx.json(properties),
        properties_folded: tx.json(folded),
        inputs: inputs === null ? null : tx.json(inputs as never),
      };
      const bodies = { ...key, request_text, response_text, request_raw, response_raw };
      await tx`insert into assay.requests ${tx(own)}`;
      // Where they are makes no difference to readers.
      const table = index % 2 === 0 ? 'assay.request_bodies' : 'assay.fresh_bodies';
      await tx`insert into ${tx(table)} ${tx(bodies)}`;
      for (const [name, value] of Object.entries(folded)) {
        const pair_hash = hashProperty(name, value).toString();
        await tx`insert into assay.request_properties ${tx({ ...key, pair_hash })} on conflict do nothing`;
      }
      for (const [name, value] of Object.entries(scores)) {
        await tx`insert into assay.request_scores ${tx({ ...key, key: name, value, updated_at: row.created_at })}`;
      }
    }
    const sessions = new Set(rows.flatMap((row) => row.session_id ?? []));
    await tx`select assay.recount_sessions(${organizationId}, ${[...sessions]}::text[])`;
  });
  return rows;
}

/** What is in a large set of generated records: enough to ask for common values and rare ones. */
export const SEEDED = {
  days: 28,
  /** One request in so many is among the rare ones. */
  rareEvery: 100_000,
  users: 20_000,
  plans: ['free', 'pro', 'enterprise'],
  /** Sessions that share a seventeenth of all requests; an eighth has no session, and the others share one with six more. */
  longSessions: 3,
} as const;

/** Crockford's base32, as ULIDs have it. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ulidTime = Array.from(
  { length: 10 },
  (_, index) => `substr('${ALPHABET}', ((s.ms >> ${45 - index * 5}) & 31)::int + 1, 1)`,
).join(' || ');

/** The same 64 bits as `hashProperty`, in SQL. */
const hashInSql = (name: string, value: string) =>
  `('x' || left(encode(sha256(convert_to('["${name}","' || ${value} || '"]', 'UTF8')), 'hex'), 16))::bit(64)::int8`;

const seedStatement = `
with seed as materialized (
  select i, ms, to_timestamp(ms / 1000.0) as created_at,
    hashint8extended(i, 1) & 1048575 as a, hashint8extended(i, 2) & 1048575 as b
  from (select i, $2::int8 - ($3::int8 - i) * ${SEEDED.days * 86_400_000}::int8 / $3::int8 as ms
        from generate_series($4::int8, $5::int8) as i) n
), rows as materialized (
  select s.*, ${ulidTime} || upper(left(md5(i::text), 16)) as request_id,
    i % ${SEEDED.rareEvery} = 77 as rare,
    (array['${SEEDED.plans.join("','")}'])[1 + (a % 3)] as plan,
    'c-' || (i / 10) as conversation,
    case when i % 8 = 7 then null when i % 17 = 1 then 'long-' || i % ${SEEDED.longSessions}
         else 'session-' || (i / 8) end as session_id,
    (array['gpt-4o-mini', 'gpt-4o', 'gpt-4.1', 'claude-sonnet-4', 'gemini-2.5-flash'])[1 + (b % 5)] as model
  from seed s
), requests as (
  insert into assay.requests (organization_id, created_at, request_id, source, path, provider, request_model,
    response_model, model, response_id, response_created_at, status, latency_ms, ttft_ms, prompt_tokens,
    completion_tokens, total_tokens, cost_nano, user_id, session_id, session_name, session_path, prompt_id, experiment_id, cached_from, request_properties,
    properties_folded, inputs, is_stream, truncated, feedback_rating, feedback_created_at)
  select $1, created_at, request_id, 'gateway', '/v1/chat/completions', case when rare then 'XAI' else 'OPENAI' end,
    case when rare then 'grok-4' else model end, case when rare then 'grok-4' else model || '-2026-01-01' end,
    case when rare then 'grok-4' else model || '-2026-01-01' end, 'chatcmpl-' || md5(i::text),
    created_at + a % 5000 * interval '1 ms',
    case when rare then 418 when a % 100 = 1 then 500 when a % 50 = 2 then 429 else 200 end,
    case when rare then 500000 + i % 1000 else 100 + a % 5000 + case when b % 1000 = 1 then 60000 else 0 end end,
    case when b % 3 = 0 then 50 + a % 700 end, 10 + a % 2000, 1 + b % 800, 11 + a % 2000 + b % 800,
    case when b % 50 <> 3 then (a % 2000) * 150 + (b % 800) * 600 + case when rare then 9000000000 else 0 end end,
    case when a % 10 > 0 then 'user-' || b % ${SEEDED.users} end,
    session_id, case when session_id is not null then 'session name ' || i / 8 % 500 end,
    case when session_id is not null then '/agent/step ' || i % 7 end,
    case when rare then 'prompt-1' end, case when rare then 'experiment-1' end, case when rare then request_id end,
    jsonb_build_object('Plan', plan, 'Conversation', conversation),
    jsonb_build_object('plan', plan, 'conversation', conversation),
    case when rare then '{"city": "Oslo"}'::jsonb end, b % 3 = 0, false,
    case when a % 200 = 1 then b % 2 = 0 end, case when a % 200 = 1 then created_at + interval '1 minute' end
  from rows
), bodies as (
  insert into assay.request_bodies (organization_id, created_at, request_id, request_text, response_text)
  select $1, created_at, request_id,
    '{"model":"' || model || '","messages":[{"role":"user","content":"Question ' || i || ': ' || md5(i::text) || ' '
      || md5(a::text) || md5(b::text) || '"}]}',
    '{"id":"chatcmpl-' || md5(i::text) || '","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant",'
      || '"content":"Answer ' || md5(a::text) || md5(b::text) || '"},"finish_reason":"stop"}]}'
  from rows
), properties as (
  insert into assay.request_properties (organization_id, pair_hash, created_at, request_id)
  select $1, ${hashInSql('plan', 'plan')}, created_at, request_id from rows
  union all
  select $1, ${hashInSql('conversation', 'conversation')}, created_at, request_id from rows
)
insert into assay.request_scores (organization_id, created_at, request_id, key, value, updated_at)
select $1, created_at, request_id, 'helpfulness', (b % 101) / 100.0, created_at from rows where a % 20 = 1
`;

const BATCH = 20_000;

/**
 * Generates `count` requests of one organization over the 28 days before `endMs`, evenly, and gathers statistics.
 * @param onProgress called with the number done
 */
export async function generateRequests(
  sql: Sql,
  options: { organizationId: string; count: number; endMs: number; onProgress?: (done: number) => void },
): Promise<void> {
  const { organizationId, count, endMs, onProgress } = options;
  for (let day = 0; day <= SEEDED.days; day += 1) {
    await sql`select assay.ensure_partitions(${new Date(endMs - day * 86_400_000)})`;
  }
  for (let first = 1; first <= count; first += BATCH) {
    const last = Math.min(first + BATCH - 1, count);
    await sql.unsafe(seedStatement, [
      organizationId,
      String(endMs),
      String(count),
      String(first),
      String(last),
    ]);
    onProgress?.(last);
  }
  await countSessionsOf(sql, organizationId);
  await sql`
    vacuum (analyze) assay.requests, assay.request_bodies, assay.request_properties, assay.request_scores,
      assay.sessions, assay.session_names`;
}

/** Sets the totals of all sessions, as the migration does. */
export async function countSessionsOf(sql: Sql, organizationId: string): Promise<void> {
  await sql`
    insert into assay.sessions (organization_id, session_id, first_at, last_at, requests, timed_requests, latency_ms,
      prompt_tokens, completion_tokens, total_tokens, cost_nano, name, named_at)
    select organization_id, session_id, min(created_at), max(created_at), count(*), count(latency_ms), sum(latency_ms),
      sum(prompt_tokens), sum(completion_tokens), sum(total_tokens), sum(cost_nano),
      (array_agg(session_name order by created_at desc))[1], max(created_at)
      from assay.requests where organization_id = ${organizationId} and session_id is not null
     group by organization_id, session_id`;
  await sql`
    insert into assay.session_names (organization_id, session_id, name)
    select distinct organization_id, session_id, session_name
      from assay.requests where organization_id = ${organizationId} and session_id is not null`;
}
