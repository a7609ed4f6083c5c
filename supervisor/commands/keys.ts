import { Command } from 'commander';
import {
  createKey,
  createOrganization,
  findOrganization,
  listKeys,
  type Organization,
  revokeKey,
  type Scope,
  setTier,
  type Tier,
} from '#platform/keys/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import { policyOption, rateOption, scopesOption, tierOption } from './options.ts';
import { table } from './table.ts';

/** Runs work on the database, and prints the text that it returns. */
export type RunCommand = (work: (sql: Sql) => Promise<string>) => Promise<void>;

type CreateOptions = {
  organization: string;
  scopes: Scope[];
  tier?: Tier;
  logsPer5s?: number;
  name?: string;
  rateLimitPolicy?: string;
};

/** Returns the organization of this name, created when there is none; tier and rate change only when they are given. */
async function ensureOrganization(
  sql: Sql,
  options: CreateOptions,
): Promise<Organization & { isNew?: true }> {
  const { organization: name, tier, logsPer5s } = options;
  const existing = await findOrganization(sql, name);
  if (existing === null) {
    const made = await createOrganization(sql, { name, ...(tier && { tier }), logsPer5s: logsPer5s ?? null });
    return { ...made, isNew: true };
  }
  if (tier === undefined && logsPer5s === undefined) return existing;
  return await setTier(sql, name, {
    tier: tier ?? existing.tier,
    logsPer5s: logsPer5s ?? existing.logsPer5s,
  });
}

async function create(sql: Sql, options: CreateOptions): Promise<string> {
  const { organizationId, isNew } = await ensureOrganization(sql, options);
  const { scopes, name = '', rateLimitPolicy } = options;
  const { key, record } = await createKey(sql, {
    organizationId,
    scopes,
    name,
    ...(rateLimitPolicy !== undefined && { rateLimitPolicy }),
  });
  // Says when the organization is new, so that a mistyped name is noticed.
  const organization = `${isNew === true ? 'the new organization ' : ''}${record.organizationName}`;
  return `${key}\n\nKey ${record.keyId} of ${organization}; shown this once: keep it`;
}

async function list(sql: Sql, options: { organization?: string }): Promise<string> {
  const { organization } = options;
  const keys = await listKeys(sql, organization === undefined ? {} : { organizationName: organization });
  if (keys.length === 0) return 'There are no keys';
  return table(
    ['KEY ID', 'PREFIX', 'ORGANIZATION', 'SCOPES', 'RATE LIMIT', 'NAME', 'CREATED', 'REVOKED'],
    keys.map((key) => [
      key.keyId,
      key.prefix,
      key.organizationName,
      key.scopes.join(','),
      key.rateLimitPolicy ?? '',
      key.name,
      key.createdAt.toISOString(),
      key.revokedAt?.toISOString() ?? '',
    ]),
  );
}

async function revoke(sql: Sql, keyIdOrPrefix: string): Promise<string> {
  const key = await revokeKey(sql, keyIdOrPrefix);
  return `Key ${key.keyId} (${key.prefix}…) of ${key.organizationName} is revoked`;
}

/** `keys create | list | revoke` */
export function keysCommand(run: RunCommand): Command {
  const keys = new Command('keys').description('manage API keys');
  keys
    .command('create')
    .description('make a key, and its organization when there is none of this name; the key is shown once')
    .requiredOption('--organization <name>', 'the organization that the key belongs to')
    .addOption(scopesOption)
    .addOption(tierOption)
    .addOption(rateOption)
    .option('--name <name>', 'what the key is for')
    .addOption(policyOption)
    .action((options: CreateOptions) => run((sql) => create(sql, options)));
  keys
    .command('list')
    .description('list keys, newest first')
    .option('--organization <name>', 'those of this organization')
    .action((options: { organization?: string }) => run((sql) => list(sql, options)));
  keys
    .command('revoke <key>')
    .description('revoke a key, by its id or the prefix it is listed with')
    .action((key: string) => run((sql) => revoke(sql, key)));
  return keys;
}
