import { Command } from 'commander';
import {
  createKey,
  createOrganization,
  findKeyByIdOrPrefix,
  findOrganization,
  listKeys,
  type Organization,
  requireOrganization,
  revokeKey,
  rotateKey,
  type Scope,
  setTier,
  type Tier,
} from '#platform/keys/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import {
  expiryOption,
  modelsOption,
  overlapOption,
  pathsOption,
  policyOption,
  providersOption,
  rateOption,
  scopesOption,
  tierOption,
} from './options.ts';
import { table } from './table.ts';

/** Runs work on the database, and prints the text that it returns. */
export type RunCommand = (work: (sql: Sql) => Promise<string>) => Promise<void>;

type CreateOptions = {
  organization: string;
  scopes: Scope[];
  tier?: Tier;
  logsPer5s?: number;
  name?: string;
  owner?: string;
  rateLimitPolicy?: string;
  expires?: Date;
  models?: string[];
  providers?: string[];
  paths?: string[];
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
  const { expires = null, ...wanted } = options;
  const { key, record } = await createKey(sql, { ...wanted, organizationId, expiresAt: expires });
  // Says when the organization is new, so that a mistyped name is noticed.
  const organization = `${isNew === true ? 'the new organization ' : ''}${record.organizationName}`;
  return `${key}\n\nKey ${record.keyId} of ${organization}; shown this once: keep it`;
}

async function list(sql: Sql, options: { organization?: string }): Promise<string> {
  const { organization } = options;
  if (organization !== undefined) await requireOrganization(sql, organization);
  const keys = await listKeys(sql, organization === undefined ? {} : { organizationName: organization });
  if (keys.length === 0) return 'There are no keys';
  return table(
    [
      'KEY ID',
      'PREFIX',
      'ORGANIZATION',
      'SCOPES',
      'RATE LIMIT',
      'NAME',
      'CREATED',
      'EXPIRES',
      'LAST USED',
      'REVOKED',
    ],
    keys.map((key) => [
      key.keyId,
      key.prefix,
      key.organizationName,
      key.scopes.join(','),
      key.rateLimitPolicy ?? '',
      key.name,
      key.createdAt.toISOString(),
      key.expiresAt?.toISOString() ?? '',
      key.lastUsedAt?.toISOString() ?? '',
      key.revokedAt?.toISOString() ?? '',
    ]),
  );
}

async function revoke(sql: Sql, keyIdOrPrefix: string): Promise<string> {
  const key = await revokeKey(sql, keyIdOrPrefix);
  return `Key ${key.keyId} (${key.prefix}…) of ${key.organizationName} is revoked`;
}

async function rotate(sql: Sql, keyIdOrPrefix: string, overlapSeconds: number): Promise<string> {
  const { key, old, record } = await sql.begin(async (tx) => {
    const old = await findKeyByIdOrPrefix(tx, keyIdOrPrefix);
    return { old, ...(await rotateKey(tx, old, { overlapSeconds, nowMs: Date.now() })) };
  });
  return `${key}\n\nKey ${record.keyId} of ${record.organizationName}, in the place of ${old.keyId}; shown this once: keep it`;
}

/** `keys create | list | rotate | revoke` */
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
    .option('--owner <owner>', 'who answers for it')
    .addOption(expiryOption)
    .addOption(modelsOption)
    .addOption(providersOption)
    .addOption(pathsOption)
    .addOption(policyOption)
    .action((options: CreateOptions) => run((sql) => create(sql, options)));
  keys
    .command('list')
    .description('list keys, newest first')
    .option('--organization <name>', 'those of this organization')
    .action((options: { organization?: string }) => run((sql) => list(sql, options)));
  keys
    .command('rotate <key>')
    .description('make a key like this one with a new secret, by its id or the prefix it is listed with')
    .addOption(overlapOption)
    .action((key: string, { overlapSeconds }: { overlapSeconds: number }) =>
      run((sql) => rotate(sql, key, overlapSeconds)),
    );
  keys
    .command('revoke <key>')
    .description('revoke a key, by its id or the prefix it is listed with')
    .action((key: string) => run((sql) => revoke(sql, key)));
  return keys;
}
