import type { Sql } from '#platform/postgres/mod.ts';

/** A row of the change feed. */
export type NotedChange = {
  organizationId: string;
  kind: string;
  requestIds: string[];
  createdAts: Date[];
  details: unknown;
};

/** Returns the changes that were noted since the last call with this database, in the order of their numbers, and forgets them. */
export async function takeChanges(sql: Sql): Promise<NotedChange[]> {
  return await sql<NotedChange[]>`
    with taken as (delete from assay.changes returning *)
    select organization_id as "organizationId", kind, request_ids as "requestIds", created_ats as "createdAts", details
      from taken order by seq`;
}
