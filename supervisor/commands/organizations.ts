import { Command } from 'commander';
import {
  createOrganization,
  LOGS_PER_5S,
  listOrganizations,
  type Organization,
  setTier,
  TIERS,
  type Tier,
} from '#core/keys/mod.ts';
import type { RunCommand } from './keys.ts';
import { rateOption, tierOption } from './options.ts';
import { table } from './table.ts';

function rateOf({ tier, logsPer5s }: Organization): string {
  return String(logsPer5s ?? LOGS_PER_5S[tier] ?? 'unlimited');
}

function describe(organization: Organization): string {
  const { name, tier, organizationId } = organization;
  return `Organization ${name} (${organizationId}): tier ${tier}, logs per 5 s: ${rateOf(organization)}`;
}

type TierOptions = { tier?: Tier; logsPer5s?: number };

/** `organizations create | list | set-tier` */
export function organizationsCommand(run: RunCommand): Command {
  const organizations = new Command('organizations').description('manage organizations and their tiers');
  organizations
    .command('create <name>')
    .description('make an organization')
    .addOption(tierOption)
    .addOption(rateOption)
    .action((name: string, { tier = 'free', logsPer5s = undefined }: TierOptions) =>
      run(async (sql) =>
        describe(await createOrganization(sql, { name, tier, logsPer5s: logsPer5s ?? null })),
      ),
    );
  organizations
    .command('list')
    .description('list organizations by name')
    .action(() =>
      run(async (sql) => {
        const rows = await listOrganizations(sql);
        if (rows.length === 0) return 'There are no organizations';
        return table(
          ['NAME', 'TIER', 'LOGS PER 5 S', 'CREATED', 'ID'],
          rows.map((row) => [
            row.name,
            row.tier,
            rateOf(row),
            row.createdAt.toISOString(),
            row.organizationId,
          ]),
        );
      }),
    );
  organizations
    .command('set-tier <name> <tier>')
    .description(
      `change an organization's tier to one of ${TIERS.join(', ')}; without --logs-per-5s, to the tier's rate`,
    )
    .addOption(rateOption)
    .action((name: string, tier: string, { logsPer5s = undefined }: TierOptions) =>
      run(async (sql) =>
        describe(await setTier(sql, name, { tier: tierNamed(tier), logsPer5s: logsPer5s ?? null })),
      ),
    );
  return organizations;
}

function tierNamed(text: string): Tier {
  const tier = TIERS.find((candidate) => candidate === text);
  if (tier === undefined) throw new Error(`"${text}" is not a tier: it must be one of ${TIERS.join(', ')}`);
  return tier;
}
