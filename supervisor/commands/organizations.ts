import { Command } from 'commander';
import {
  createOrganization,
  LOGS_PER_5S,
  listOrganizations,
  type Organization,
  setEvaluationBudget,
  setTier,
  TIERS,
  type Tier,
} from '#platform/keys/mod.ts';
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

/** `organizations create | list | set-tier | set-evaluation-budget` */
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
  organizations
    .command('set-evaluation-budget <name> <usd>')
    .description(
      "limit what an organization's judges may cost a day (UTC), in US dollars such as 2.50; none: no limit",
    )
    .action((name: string, usd: string) =>
      run(async (sql) => describeBudget(await setEvaluationBudget(sql, name, budgetNamed(usd)))),
    );
  return organizations;
}

const NANO_DIGITS = 9;
const BUDGET = /^(\d{1,6})(?:\.(\d{1,9}))?$/;

/** Parses a daily budget. Returns nano-dollars; null: no limit. */
function budgetNamed(text: string): number | null {
  if (text === 'none') return null;
  const [, whole, decimals = ''] = BUDGET.exec(text) ?? [];
  if (whole === undefined) {
    throw new Error(
      `"${text}" is not a budget: it must be none, or dollars below 1000000 with at most 9 decimals`,
    );
  }
  return Number(whole + decimals.padEnd(NANO_DIGITS, '0'));
}

function describeBudget({ name, organizationId, evaluationBudgetNano }: Organization): string {
  const budget =
    evaluationBudgetNano === null ? 'no limit' : `${evaluationBudgetNano / 10 ** NANO_DIGITS} USD`;
  return `Organization ${name} (${organizationId}): judges may cost a day: ${budget}`;
}

function tierNamed(text: string): Tier {
  const tier = TIERS.find((candidate) => candidate === text);
  if (tier === undefined) throw new Error(`"${text}" is not a tier: it must be one of ${TIERS.join(', ')}`);
  return tier;
}
