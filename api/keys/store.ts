/** Statements about the keys of one organization: `tx` is of the role `assay_api`. */
import type { KeyState } from '#core/contracts/keys.ts';
import { containing } from '#core/filter/mod.ts';
import type { Grant } from '#core/keys/mod.ts';
import { type KeyRecord, keyColumns, keyTables, listOrNull } from '#platform/keys/mod.ts';
import { lockName, type TransactionSql } from '#platform/postgres/mod.ts';
import type { Label } from './read-body.ts';

/**
 * Lets the changes of an organization's keys happen one after the other, until the transaction ends: each of two keys that
 * revoke each other would otherwise find the other one still there.
 */
export async function lockKeys(tx: TransactionSql, organizationId: string): Promise<void> {
  await lockName(tx, `keys ${organizationId}`);
}

/** Returns a key of the organization; undefined: it has none of this id. */
export async function selectKey(
  tx: TransactionSql,
  organizationId: string,
  keyId: string,
): Promise<KeyRecord | undefined> {
  const [record] = await tx<KeyRecord[]>`
    select ${keyColumns(tx)} from ${keyTables(tx)} where k.organization_id = ${organizationId} and k.key_id = ${keyId}`;
  return record;
}

/** A page of keys; `search` '': of any text; `state` null: of every state, `at` being the present; `ids` null: with any id. */
export type KeyPage = {
  search: string;
  state: KeyState | null;
  ids: readonly string[] | null;
  at: Date;
  limit: number;
  offset: number;
};

/** Lists keys, newest first. */
export function selectKeys(
  tx: TransactionSql,
  organizationId: string,
  { search, state, ids, at, limit, offset }: KeyPage,
): Promise<KeyRecord[]> {
  return tx<KeyRecord[]>`
    select ${keyColumns(tx)} from ${keyTables(tx)}
    where k.organization_id = ${organizationId}
      and (${state}::text is null or ${state} = case
        when k.revoked_at is not null then 'revoked' when k.expires_at <= ${at} then 'expired' else 'active' end)
      and (${search} = '' or concat_ws(E'\\n', k.name, k.prefix, k.owner, k.key_id::text, array_to_string(k.tags, E'\\n'))
        ilike ${containing(search)})
      and (${listOrNull(ids)}::uuid[] is null or k.key_id = any (${listOrNull(ids)}::uuid[]))
    order by k.created_at desc, k.key_id
    limit ${limit} offset ${offset}`;
}

/** Counts the keys that work, and those that do not any more. */
export async function countKeys(
  tx: TransactionSql,
  organizationId: string,
  at: Date,
): Promise<Record<KeyState, number>> {
  const [counts] = await tx<Record<KeyState, number>[]>`
    select count(*) filter (where revoked_at is null and (expires_at is null or expires_at > ${at}))::int as active,
      count(*) filter (where revoked_at is null and expires_at <= ${at})::int as expired,
      count(*) filter (where revoked_at is not null)::int as revoked
    from assay.api_keys where organization_id = ${organizationId}`;
  return counts!;
}

/** A key that can make and revoke keys, as far as its paths let it. */
export type Manager = { keyId: string; paths: string[] | null; expiresAt: Date | null };

/** Lists the keys with the scope `write` that work. */
export function selectManagers(tx: TransactionSql, organizationId: string, at: Date): Promise<Manager[]> {
  return tx<Manager[]>`
    select key_id as "keyId", paths, expires_at as "expiresAt" from assay.api_keys
    where organization_id = ${organizationId} and 'write' = any (scopes) and revoked_at is null
      and (expires_at is null or expires_at > ${at})`;
}

/** Changes a key. */
export async function updateKey(
  tx: TransactionSql,
  { organizationId, keyId }: Pick<KeyRecord, 'organizationId' | 'keyId'>,
  changed: Label & Grant,
): Promise<void> {
  await tx`
    update assay.api_keys set name = ${changed.name}, owner = ${changed.owner}, tags = ${[...changed.tags]}::text[],
      scopes = ${[...changed.scopes]}::text[], models = ${listOrNull(changed.models)}::text[],
      providers = ${listOrNull(changed.providers)}::text[], paths = ${listOrNull(changed.paths)}::text[],
      rate_limit_policy = ${changed.rateLimitPolicy}, expires_at = ${changed.expiresAt}
    where organization_id = ${organizationId} and key_id = ${keyId}`;
}

/** Revokes a key. One that was revoked before keeps its time. */
export async function revoke(
  tx: TransactionSql,
  { organizationId, keyId }: Pick<KeyRecord, 'organizationId' | 'keyId'>,
  at: Date,
): Promise<void> {
  await tx`
    update assay.api_keys set revoked_at = ${at}
    where organization_id = ${organizationId} and key_id = ${keyId} and revoked_at is null`;
}
