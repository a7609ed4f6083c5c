import type { AnySql } from './store.ts';

/**
 * Claims an id that a client chose for its request, before the provider is called. Returns false when the organization has
 * used the id before, for any request, an erased one included.
 */
export async function reserveRequestId(
  sql: AnySql,
  organizationId: string,
  requestId: string,
): Promise<boolean> {
  const claimed = await sql`
    insert into assay.claimed_request_ids (organization_id, request_id)
    select ${organizationId}::uuid, ${requestId}::text
    where not exists (
      select from assay.requests where organization_id = ${organizationId}::uuid and request_id = ${requestId}::text
    ) and not exists (
      select from assay.erased_requests
      where organization_id = ${organizationId}::uuid and request_id = ${requestId}::text
    )
    on conflict do nothing
    returning 1`;
  return claimed.length === 1;
}
