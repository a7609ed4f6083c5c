import type { Sql, TransactionSql } from '../postgres/mod.ts';

/**
 * Claims an id that a caller chose for its request, before the provider is called. False when the organization has
 * used it before, for a request of its choosing or one that Assay named.
 */
export async function claimRequestId(
  sql: Sql | TransactionSql,
  organizationId: string,
  requestId: string,
): Promise<boolean> {
  const claimed = await sql`
    insert into assay.claimed_request_ids (organization_id, request_id)
    select ${organizationId}::uuid, ${requestId}::text
    where not exists (
      select from assay.requests where organization_id = ${organizationId}::uuid and request_id = ${requestId}::text
    )
    on conflict do nothing
    returning 1`;
  return claimed.length === 1;
}
