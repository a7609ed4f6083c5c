import type { ChangesOfKind } from '#core/contracts/changes.ts';
import { storableJson } from '#core/json/mod.ts';
import type { TransactionSql } from '../postgres/mod.ts';

/** Keys of one row: a sink reads whole rows, and is to hold a bounded number of keys. */
const MAX_KEYS = 1_000;

/** Changes of one organization. Details that are null may be left out. */
type Change = { organizationId: string } & WithOptionalDetails<ChangesOfKind>;
type WithOptionalDetails<Kind> = Kind extends { details: null } ? Omit<Kind, 'details'> : Kind;

/**
 * Notes changes, in the transaction that makes them; nothing when there are none. The sinks see them once it is committed. The
 * role of the API may note those of its transaction's organization.
 */
export async function noteChange(tx: TransactionSql, change: Change): Promise<void> {
  const { organizationId, kind, keys } = change;
  const details = 'details' in change ? change.details : null;
  const count = Math.max(keys.length, details?.length ?? 0);
  for (let first = 0; first < count; first += MAX_KEYS) {
    const part = keys.slice(first, first + MAX_KEYS);
    const json = details === null ? null : storableJson(details.slice(first, first + MAX_KEYS)).text;
    await tx`
      insert into assay.changes (organization_id, kind, created_ats, request_ids, details)
      values (${organizationId}, ${kind}, ${part.map(({ createdAt }) => createdAt.toISOString())}::timestamptz[],
              ${part.map(({ requestId }) => requestId)}::text[], ${json}::text::jsonb)`;
  }
}
