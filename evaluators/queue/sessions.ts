/** The sessions behind evaluations of sessions: their requests up to the one that an evaluation is of. */
import type { StoredSession, StoredTurn } from '#core/scoring/mod.ts';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';

/** Requests of a session that are read, the newest: each usually repeats what was said before it. */
const MAX_TURNS = 200;
/** Bytes of the bodies of a session that are read, the newest first, so that a claim of many evaluations fits into memory. */
const MAX_SESSION_BYTES = 4 * 1024 * 1024;

/** A request that a session is read up to. */
export type SessionEnd = {
  organizationId: string;
  sessionId: string;
  /** Null: up to its newest request. */
  createdAt: Date | null;
  requestId: string | null;
};

type TurnRow = Omit<StoredTurn, 'createdAt'> & { createdAt: Date; place: number; name: string | null };

/** Reads sessions, one for each end, in order. One whose requests are all gone has no turns. */
export async function loadSessions(
  sql: Sql | TransactionSql,
  ends: readonly SessionEnd[],
): Promise<StoredSession[]> {
  if (ends.length === 0) return [];
  const rows = await sql<TurnRow[]>`
    select ends.place::int4 as place, s.name, t.*
      from unnest(${ends.map((end) => end.organizationId)}::uuid[], ${ends.map((end) => end.sessionId)}::text[],
                  ${ends.map((end) => end.createdAt?.toISOString() ?? null)}::timestamptz[],
                  ${ends.map((end) => end.requestId)}::text[])
             with ordinality as ends (organization_id, session_id, created_at, request_id, place)
      left join assay.sessions s on s.organization_id = ends.organization_id and s.session_id = ends.session_id
     cross join lateral (
       select "requestId", path, "createdAt", status, model,
              case when bytes <= ${MAX_SESSION_BYTES} then request_text end as "requestText",
              case when bytes <= ${MAX_SESSION_BYTES} then response_text end as "responseText"
         from (
           select r.request_id as "requestId", r.session_path as path, r.created_at as "createdAt", r.status,
                  r.model, b.request_text, b.response_text,
                  sum(coalesce(octet_length(b.request_text) + octet_length(b.response_text), 0))
                    over (order by r.created_at desc, r.request_id desc rows unbounded preceding) as bytes
             from (select * from assay.requests r
                    where r.organization_id = ends.organization_id and r.session_id = ends.session_id
                      and r.source <> 'evaluator'
                      and (ends.created_at is null or (r.created_at, r.request_id) <= (ends.created_at, ends.request_id))
                    order by r.created_at desc, r.request_id desc limit ${MAX_TURNS + 1}) r
             left join assay.bodies b on b.organization_id = r.organization_id and b.created_at = r.created_at
                                     and b.request_id = r.request_id) summed) t
     order by ends.place, t."createdAt", t."requestId"`;
  const byPlace = Map.groupBy(rows, (row) => row.place);
  return ends.map(({ sessionId }, index) => {
    const own = byPlace.get(index + 1) ?? [];
    const turns = own.slice(-MAX_TURNS).map(({ place: _place, name: _name, createdAt, ...turn }) => ({
      ...turn,
      createdAt: createdAt.toISOString(),
    }));
    return { id: sessionId, name: own[0]?.name ?? null, isCut: own.length > MAX_TURNS, turns };
  });
}
