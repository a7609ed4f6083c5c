import { AssayError } from '#core/contracts/errors.ts';
import { parsePolicy } from '#core/rate-limit/mod.ts';
import type { Sql, TransactionSql } from '../postgres/mod.ts';
import type { SealedProviderKey } from '../provider-keys/mod.ts';
import {
  type ApiKey,
  DISPLAY_PREFIX_LENGTH,
  generateApiKey,
  hashApiKey,
  LOGS_PER_5S,
  type Scope,
  type Tier,
} from './api-key.ts';

export type Organization = {
  organizationId: string;
  name: string;
  tier: Tier;
  /** Logging limit of this organization; null: its tier's. */
  logsPer5s: number | null;
  /** Daily budget (UTC) of its judges in nano-dollars; null: no limit. */
  evaluationBudgetNano: number | null;
  createdAt: Date;
};

/** A key as it is listed, without the key itself. */
export type KeyRecord = {
  keyId: string;
  organizationId: string;
  organizationName: string;
  name: string;
  prefix: string;
  scopes: Scope[];
  /** Policy of calls that name none; null: there is none. */
  rateLimitPolicy: string | null;
  createdAt: Date;
  revokedAt: Date | null;
};

type AnySql = Sql | TransactionSql;

const UNIQUE_VIOLATION = '23505';
const LONGEST_NAME = 100;

function checkName(name: string): void {
  if (name.length >= 1 && name.length <= LONGEST_NAME) return;
  throw new AssayError('invalid_body', `An organization's name must have 1 to ${LONGEST_NAME} characters`);
}

const organizationColumns = (sql: AnySql) => sql`
  organization_id as "organizationId", name, tier, logs_per_5s as "logsPer5s",
  evaluation_budget_nano::float8 as "evaluationBudgetNano", created_at as "createdAt"`;

/**
 * Creates an organization.
 * @throws AssayError conflict when the name is taken
 */
export async function createOrganization(
  sql: AnySql,
  organization: { name: string; tier?: Tier; logsPer5s?: number | null },
): Promise<Organization> {
  checkName(organization.name);
  const [row] = await sql<Organization[]>`
    insert into assay.organizations (name, tier, logs_per_5s)
    values (${organization.name}, ${organization.tier ?? 'free'}, ${organization.logsPer5s ?? null})
    on conflict (name) do nothing
    returning ${organizationColumns(sql)}`;
  if (row === undefined) {
    throw new AssayError('conflict', `There is an organization called "${organization.name}" already`);
  }
  return row;
}

/** Returns the organization with this name, or null. */
export async function findOrganization(sql: AnySql, name: string): Promise<Organization | null> {
  const [row] = await sql<Organization[]>`
    select ${organizationColumns(sql)} from assay.organizations where name = ${name}`;
  return row ?? null;
}

/** Lists all organizations, by name. */
export function listOrganizations(sql: AnySql): Promise<Organization[]> {
  return sql<Organization[]>`select ${organizationColumns(sql)} from assay.organizations order by name`;
}

/**
 * Changes an organization's tier and its own logging limit (null: the tier's). Gateways apply it within a second.
 * @throws AssayError not_found
 */
export async function setTier(
  sql: AnySql,
  name: string,
  change: { tier: Tier; logsPer5s: number | null },
): Promise<Organization> {
  const [row] = await sql<Organization[]>`
    update assay.organizations set tier = ${change.tier}, logs_per_5s = ${change.logsPer5s}
    where name = ${name}
    returning ${organizationColumns(sql)}`;
  if (row === undefined) throw new AssayError('not_found', `There is no organization called "${name}"`);
  return row;
}

/**
 * Changes the daily budget (UTC) of an organization's judges, in nano-dollars; null: no limit. Evaluations that are under way
 * are finished.
 * @throws AssayError not_found
 */
export async function setEvaluationBudget(
  sql: AnySql,
  name: string,
  budgetNano: number | null,
): Promise<Organization> {
  const [row] = await sql<Organization[]>`
    update assay.organizations set evaluation_budget_nano = ${budgetNano}
    where name = ${name}
    returning ${organizationColumns(sql)}`;
  if (row === undefined) throw new AssayError('not_found', `There is no organization called "${name}"`);
  return row;
}

const keyColumns = (sql: AnySql) => sql`
  k.key_id as "keyId", k.organization_id as "organizationId", o.name as "organizationName", k.name, k.prefix, k.scopes,
  k.rate_limit_policy as "rateLimitPolicy", k.created_at as "createdAt", k.revoked_at as "revokedAt"`;

/**
 * Creates a key. Only the returned value holds it: the database stores its hash and a prefix.
 * @throws AssayError conflict when the chosen key exists; invalid_rate_limit_policy
 */
export async function createKey(
  sql: AnySql,
  wanted: {
    organizationId: string;
    scopes: readonly Scope[];
    name?: string;
    key?: string;
    rateLimitPolicy?: string;
  },
): Promise<{ key: string; record: KeyRecord }> {
  const key = wanted.key ?? generateApiKey();
  const policy = wanted.rateLimitPolicy === undefined ? null : parsePolicy(wanted.rateLimitPolicy).text;
  try {
    const [record] = await sql<KeyRecord[]>`
      with k as (
        insert into assay.api_keys (organization_id, name, prefix, hash, scopes, rate_limit_policy)
        values (${wanted.organizationId}, ${wanted.name ?? ''}, ${key.slice(0, DISPLAY_PREFIX_LENGTH)},
          ${hashApiKey(key)}, ${[...new Set(wanted.scopes)]}, ${policy})
        returning *
      )
      select ${keyColumns(sql)} from k join assay.organizations o using (organization_id)`;
    return { key, record: record! };
  } catch (cause) {
    if ((cause as { code?: string }).code !== UNIQUE_VIOLATION) throw cause;
    throw new AssayError('conflict', 'This key exists already', { cause });
  }
}

/** Lists keys, revoked ones included, newest first; those of one organization if its name is given. */
export function listKeys(sql: AnySql, filter: { organizationName?: string } = {}): Promise<KeyRecord[]> {
  const { organizationName = null } = filter;
  return sql<KeyRecord[]>`
    select ${keyColumns(sql)} from assay.api_keys k join assay.organizations o using (organization_id)
    where ${organizationName}::text is null or o.name = ${organizationName}
    order by k.created_at desc, k.key_id`;
}

/**
 * Revokes a key, by its id or the prefix it is listed with. Every process refuses it within a second. Revoking it again
 * changes nothing.
 * @throws AssayError not_found; conflict when several keys have the prefix
 */
export async function revokeKey(sql: AnySql, keyIdOrPrefix: string): Promise<KeyRecord> {
  const matches = await sql<KeyRecord[]>`
    select ${keyColumns(sql)} from assay.api_keys k join assay.organizations o using (organization_id)
    where k.key_id::text = ${keyIdOrPrefix.toLowerCase()} or k.prefix = ${keyIdOrPrefix}`;
  const [match] = matches;
  if (match === undefined)
    throw new AssayError('not_found', `There is no key with the id or prefix "${keyIdOrPrefix}"`);
  if (matches.length > 1) {
    throw new AssayError('conflict', `Several keys begin with "${keyIdOrPrefix}": name one by its id`);
  }
  const [revoked] = await sql<{ revokedAt: Date }[]>`
    update assay.api_keys set revoked_at = coalesce(revoked_at, now()) where key_id = ${match.keyId}
    returning revoked_at as "revokedAt"`;
  return { ...match, revokedAt: revoked?.revokedAt ?? match.revokedAt };
}

/** A valid key as stored, with its organization's provider keys still sealed. */
export type FoundKey = Omit<ApiKey, 'providerKeys'> & { sealedProviderKeys: SealedProviderKey[] };

/** A key and one of its organization's provider keys; provider and sealed are null if there is none. */
type FoundRow = Omit<FoundKey, 'scopes' | 'sealedProviderKeys'> & { scopes: Scope[] } & (
    | SealedProviderKey
    | { provider: null; sealed: null }
  );

/** Returns the valid key with this SHA-256; null: there is none, or it is revoked. */
export async function findKeyByHash(sql: AnySql, digest: Buffer): Promise<FoundKey | null> {
  const rows = await sql<FoundRow[]>`
    select k.key_id as "keyId", k.organization_id as "organizationId", k.scopes, o.tier, o.logs_per_5s as "logsPer5s",
      k.rate_limit_policy as "rateLimitPolicy", p.provider, p.sealed
    from assay.api_keys k
    join assay.organizations o using (organization_id)
    left join assay.provider_keys p using (organization_id)
    where k.hash = ${digest} and k.revoked_at is null`;
  const [row] = rows;
  if (row === undefined) return null;
  const { keyId, organizationId, tier, rateLimitPolicy } = row;
  return {
    keyId,
    organizationId,
    scopes: new Set(row.scopes),
    tier,
    logsPer5s: row.logsPer5s ?? LOGS_PER_5S[tier],
    rateLimitPolicy,
    sealedProviderKeys: rows.flatMap(({ provider, sealed }) =>
      provider === null ? [] : [{ provider, sealed }],
    ),
  };
}

/**
 * Claims an id that a client chose for its request, before the provider is called. Returns false when the organization has
 * used the id before, for any request.
 */
export async function reserveRequestId(
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
