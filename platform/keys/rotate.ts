import { AssayError } from '#core/contracts/errors.ts';
import type { TransactionSql } from '../postgres/mod.ts';
import { DISPLAY_PREFIX_LENGTH, generateApiKey, hashApiKey } from './api-key.ts';
import { type KeyRecord, keyColumns, keyTables, madeColumns } from './store.ts';

/**
 * Makes a key with a new secret in the place of another, which works for `overlapSeconds` more. The new key is like the old
 * one and uses its rate-limit counters, so that a rotation gives no quota anew.
 * @throws AssayError conflict when the key is revoked, has expired, or was rotated before
 */
export async function rotateKey(
  tx: TransactionSql,
  old: KeyRecord,
  { overlapSeconds, nowMs }: { overlapSeconds: number; nowMs: number },
): Promise<{ key: string; record: KeyRecord }> {
  // Locked first, so that of two rotations the second one finds what the first has made.
  const [locked] = await tx<{ revokedAt: Date | null; expiresAt: Date | null }[]>`
    select revoked_at as "revokedAt", expires_at as "expiresAt" from assay.api_keys where key_id = ${old.keyId} for update`;
  if (locked === undefined || locked.revokedAt !== null) throw cannot(old, 'it is revoked');
  if (locked.expiresAt !== null && locked.expiresAt.getTime() <= nowMs) throw cannot(old, 'it has expired');
  const [successor] = await tx<{ keyId: string }[]>`
    select key_id as "keyId" from assay.api_keys where rotated_from = ${old.keyId}`;
  if (successor !== undefined) throw cannot(old, `${successor.keyId} was made in its place: rotate that one`);
  const key = generateApiKey();
  const [record] = await tx<KeyRecord[]>`
    with made as (insert into assay.api_keys (organization_id, name, prefix, hash, scopes, rate_limit_policy, expires_at, models, providers,
      paths, owner, tags, rotated_from, counted_as)
    select organization_id, name, ${key.slice(0, DISPLAY_PREFIX_LENGTH)}, ${hashApiKey(key)}, scopes, rate_limit_policy,
      expires_at, models, providers, paths, owner, tags, key_id, coalesce(counted_as, key_id)
    from assay.api_keys where key_id = ${old.keyId}
    returning ${madeColumns(tx)})
    select ${keyColumns(tx)} from ${keyTables(tx, tx`made`)}`;
  await tx`
    update assay.api_keys set expires_at = least(expires_at, ${new Date(nowMs + overlapSeconds * 1_000)}::timestamptz)
    where key_id = ${old.keyId}`;
  return { key, record: record! };
}

function cannot({ keyId }: KeyRecord, reason: string): AssayError {
  return new AssayError('conflict', `The key ${keyId} cannot be rotated: ${reason}`);
}
