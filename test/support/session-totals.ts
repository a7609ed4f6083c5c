import type { Test } from 'tap';
import type { Sql } from '#platform/postgres/mod.ts';

/** Compares every session of an organization with its rows; returns how many there are. */
export async function checkTotals(t: Test, sql: Sql, organizationId: string): Promise<number> {
  const columns = sql`session_id, first_at, last_at, requests, timed_requests, latency_ms, prompt_tokens,
    completion_tokens, total_tokens, cost_nano, name, named_at`;
  const kept = await sql`
    select ${columns} from assay.sessions where organization_id = ${organizationId} order by session_id`;
  const counted = await sql`
    select session_id, min(created_at) as first_at, max(created_at) as last_at, count(*) as requests,
           count(latency_ms) as timed_requests, coalesce(sum(latency_ms), 0) as latency_ms,
           coalesce(sum(prompt_tokens), 0) as prompt_tokens, coalesce(sum(completion_tokens), 0) as completion_tokens,
           coalesce(sum(total_tokens), 0) as total_tokens, sum(cost_nano) as cost_nano,
           (array_agg(session_name order by created_at desc, session_name collate "C" desc)
              filter (where session_name is not null))[1] as name,
           max(created_at) filter (where session_name is not null) as named_at
      from assay.requests
     where organization_id = ${organizationId} and session_id is not null and source <> 'evaluator'
     group by session_id order by session_id`;
  t.same([...kept], [...counted]);
  const names = await sql`
    select session_id, name from assay.session_names where organization_id = ${organizationId} order by 1, 2`;
  const named = await sql`
    select distinct session_id, session_name collate "C" as name from assay.requests
     where organization_id = ${organizationId} and session_id is not null and session_name is not null
       and source <> 'evaluator' order by 1, 2`;
  t.same([...names], [...named]);
  return kept.length;
}
