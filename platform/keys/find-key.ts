import type { AllowLists, Scope } from '#core/keys/mod.ts';
import type { SealedProviderKey } from '../provider-keys/mod.ts';
import { type ApiKey, LOGS_PER_5S } from './api-key.ts';
import type { AnySql } from './store.ts';

/** A key as stored, with its organization's provider keys still sealed. */
export type FoundKey = Omit<ApiKey, 'providerKeys'> & { sealedProviderKeys: SealedProviderKey[] };

/** A key and one of its organization's provider keys; provider and sealed are null if there is none. */
type FoundRow = Omit<FoundKey, 'scopes' | 'expiresAtMs' | 'allowed' | 'sealedProviderKeys'> &
  AllowLists & { scopes: Scope[]; expiresAt: Date | null } & (
    | SealedProviderKey
    | { provider: null; sealed: null }
  );

/** Returns the keys with these SHA-256, in the same order. Each may have expired; null: there is none, or it is revoked. */
export async function findKeys(sql: AnySql, digests: readonly Buffer[]): Promise<(FoundKey | null)[]> {
  const rows = await sql<(FoundRow & { hash: Buffer })[]>`
    select k.hash, ${columns(sql)} from ${tables(sql)}
    where k.hash = any(${digests.map((digest) => `\\x${digest.toString('hex')}`)}::bytea[]) and k.revoked_at is null`;
  const found = Map.groupBy(rows, ({ hash }) => hash.toString('latin1'));
  return digests.map((digest) => toFoundKey(found.get(digest.toString('latin1')) ?? []));
}

/** Returns the key with this id, which may have expired; null: there is none, or it is revoked. */
export async function findKeyById(sql: AnySql, keyId: string): Promise<FoundKey | null> {
  const rows = await sql<FoundRow[]>`
    select ${columns(sql)} from ${tables(sql)} where k.key_id = ${keyId} and k.revoked_at is null`;
  return toFoundKey(rows);
}

const columns = (sql: AnySql) => sql`
  k.key_id as "keyId", coalesce(k.counted_as, k.key_id) as "countedAs", k.organization_id as "organizationId", k.scopes,
  o.tier, o.logs_per_5s as "logsPer5s", k.rate_limit_policy as "rateLimitPolicy", k.expires_at as "expiresAt",
  k.models, k.providers, k.paths, p.provider, p.sealed`;

const tables = (sql: AnySql) => sql`
  assay.api_keys k
  join assay.organizations o using (organization_id)
  left join assay.provider_keys p using (organization_id)`;

/** Makes a key of its rows, one for each provider key of its organization. */
function toFoundKey(rows: readonly FoundRow[]): FoundKey | null {
  const [row] = rows;
  if (row === undefined) return null;
  const { keyId, countedAs, organizationId, tier, rateLimitPolicy, expiresAt, models, providers, paths } =
    row;
  return {
    keyId,
    countedAs,
    organizationId,
    scopes: new Set(row.scopes),
    tier,
    logsPer5s: row.logsPer5s ?? LOGS_PER_5S[tier],
    rateLimitPolicy,
    expiresAtMs: expiresAt?.getTime() ?? null,
    allowed: models === null && providers === null && paths === null ? null : { models, providers, paths },
    sealedProviderKeys: rows.flatMap(({ provider, sealed }) =>
      provider === null ? [] : [{ provider, sealed }],
    ),
  };
}
