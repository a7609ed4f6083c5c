/** API keys in Postgres. The statements also run under the role `assay_api`, in a transaction of the keys' organization. */
import { AssayError } from '#core/contracts/errors.ts';
import type { Grant, Scope } from '#core/keys/mod.ts';
import { parsePolicy } from '#core/rate-limit/mod.ts';
import type { Sql, TransactionSql } from '../postgres/mod.ts';
import { DISPLAY_PREFIX_LENGTH, generateApiKey, hashApiKey } from './api-key.ts';

export type AnySql = Sql | TransactionSql;

/** A key as it is listed, without the key itself. */
export type KeyRecord = Grant & {
  keyId: string;
  organizationId: string;
  organizationName: string;
  name: string;
  prefix: string;
  owner: string | null;
  tags: string[];
  createdAt: Date;
  revokedAt: Date | null;
  /** To the minute, and at most two minutes late; null: never. */
  lastUsedAt: Date | null;
  /** The key in whose place this one was made; null: none. */
  rotatedFrom: string | null;
};

const UNIQUE_VIOLATION = '23505';

/** The columns of a `KeyRecord`, of `api_keys k`, `organizations o` and, where there is one, `api_key_uses u`. */
export const keyColumns = (sql: AnySql) => sql`
  k.key_id as "keyId", k.organization_id as "organizationId", o.name as "organizationName", k.name, k.prefix, k.scopes,
  k.rate_limit_policy as "rateLimitPolicy", k.expires_at as "expiresAt", k.models, k.providers, k.paths, k.owner, k.tags,
  k.created_at as "createdAt", k.revoked_at as "revokedAt", u.last_used_at as "lastUsedAt", k.rotated_from as "rotatedFrom"`;

/**
 * Returns the tables of `keyColumns`.
 * @param keys the rows of `assay.api_keys`; all of them unless given
 */
export const keyTables = (sql: AnySql, keys = sql`assay.api_keys`) => sql`
  ${keys} k join assay.organizations o using (organization_id) left join assay.api_key_uses u using (key_id)`;

/** The columns of a new row that `keyColumns` needs: not `*`, because the API may not read hashes. */
export const madeColumns = (sql: AnySql) => sql`
  key_id, organization_id, name, prefix, scopes, rate_limit_policy, expires_at, models, providers, paths, owner, tags,
  rotated_from, created_at, revoked_at`;

/** A new key; a member that is absent does not confine it. */
export type WantedKey = Partial<Grant> & {
  organizationId: string;
  scopes: readonly Scope[];
  name?: string;
  owner?: string | null;
  tags?: readonly string[];
  /** The key itself; a random one unless given. */
  key?: string;
};

/**
 * Creates a key. Only the returned value holds it: the database stores its hash and a prefix.
 * @throws AssayError conflict when the chosen key exists; invalid_rate_limit_policy
 */
export async function createKey(sql: AnySql, wanted: WantedKey): Promise<{ key: string; record: KeyRecord }> {
  const key = wanted.key ?? generateApiKey();
  const { rateLimitPolicy = null, models = null, providers = null, paths = null, expiresAt = null } = wanted;
  const policy = rateLimitPolicy === null ? null : parsePolicy(rateLimitPolicy).text;
  try {
    const [record] = await sql<KeyRecord[]>`
      with made as (insert into assay.api_keys
        (organization_id, name, prefix, hash, scopes, rate_limit_policy, expires_at, models, providers, paths, owner, tags)
      values (${wanted.organizationId}, ${wanted.name ?? ''}, ${key.slice(0, DISPLAY_PREFIX_LENGTH)},
        ${hashApiKey(key)}, ${[...new Set(wanted.scopes)]}::text[], ${policy}, ${expiresAt}, ${listOrNull(models)}::text[],
        ${listOrNull(providers)}::text[], ${listOrNull(paths)}::text[], ${wanted.owner ?? null},
        ${[...(wanted.tags ?? [])]}::text[])
      returning ${madeColumns(sql)})
      select ${keyColumns(sql)} from ${keyTables(sql, sql`made`)}`;
    return { key, record: record! };
  } catch (cause) {
    if ((cause as { code?: string }).code !== UNIQUE_VIOLATION) throw cause;
    throw new AssayError('conflict', 'This key exists already', { cause });
  }
}

/** Returns a list as a parameter of a statement. */
export const listOrNull = (list: readonly string[] | null) => (list === null ? null : [...list]);

/** Lists keys, revoked ones included, newest first; those of one organization if its name is given. */
export function listKeys(sql: AnySql, filter: { organizationName?: string } = {}): Promise<KeyRecord[]> {
  const { organizationName = null } = filter;
  return sql<KeyRecord[]>`
    select ${keyColumns(sql)} from ${keyTables(sql)}
    where ${organizationName}::text is null or o.name = ${organizationName}
    order by k.created_at desc, k.key_id`;
}

/**
 * Returns the key with this id, or with the prefix that it is listed with.
 * @throws AssayError not_found; conflict when several keys have the prefix
 */
export async function findKeyByIdOrPrefix(sql: AnySql, keyIdOrPrefix: string): Promise<KeyRecord> {
  const matches = await sql<KeyRecord[]>`
    select ${keyColumns(sql)} from ${keyTables(sql)}
    where k.key_id::text = ${keyIdOrPrefix.toLowerCase()} or k.prefix = ${keyIdOrPrefix}`;
  const [match] = matches;
  if (match === undefined)
    throw new AssayError('not_found', `There is no key with the id or prefix "${keyIdOrPrefix}"`);
  if (matches.length > 1) {
    throw new AssayError('conflict', `Several keys begin with "${keyIdOrPrefix}": name one by its id`);
  }
  return match;
}

/**
 * Revokes a key, by its id or the prefix it is listed with. Every process refuses it within a second. Revoking it again
 * changes nothing.
 * @throws AssayError not_found; conflict when several keys have the prefix
 */
export async function revokeKey(sql: AnySql, keyIdOrPrefix: string): Promise<KeyRecord> {
  const match = await findKeyByIdOrPrefix(sql, keyIdOrPrefix);
  const [revoked] = await sql<{ revokedAt: Date }[]>`
    update assay.api_keys set revoked_at = coalesce(revoked_at, now()) where key_id = ${match.keyId}
    returning revoked_at as "revokedAt"`;
  return { ...match, revokedAt: revoked?.revokedAt ?? match.revokedAt };
}
