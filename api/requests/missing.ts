/** Ids of requests that are not in the store: those that callers chose for calls under way, and those of erased ones. */
import type { TransactionSql } from '#platform/postgres/mod.ts';

/** A claimed id whose record is not stored after this was erased, or is a dead letter. */
const COMING_FOR_MINUTES = 10;

/** Finds which of these ids were claimed a short time ago, by requests that are on their way to the store. */
export async function findClaimed(
  tx: TransactionSql,
  organizationId: string,
  requestIds: readonly string[],
): Promise<Set<string>> {
  const rows = await tx<{ request_id: string }[]>`
    select c.request_id from assay.claimed_request_ids c
    where c.organization_id = ${organizationId} and c.request_id = any(${[...requestIds]}::text[])
      and c.claimed_at > now() - ${COMING_FOR_MINUTES} * interval '1 minute'
      and not exists (
        select from assay.erased_requests e
        where e.organization_id = c.organization_id and e.request_id = c.request_id)`;
  return new Set(rows.map(({ request_id }) => request_id));
}

/** Returns whether the request of an id was erased: it does not come any more. */
export async function isErased(
  tx: TransactionSql,
  organizationId: string,
  requestId: string,
): Promise<boolean> {
  const erased = await tx`
    select from assay.erased_requests where organization_id = ${organizationId} and request_id = ${requestId}`;
  return erased.length > 0;
}
