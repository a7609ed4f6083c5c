import { Command } from 'commander';
import { listOrganizations, requireOrganization } from '#platform/keys/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import type { RunCommand } from './keys.ts';
import { table } from './table.ts';

/** The result of comparing the buckets of a family and a grain with the rows. */
type CheckedGrain = {
  organizationId: string;
  family: string;
  grainSeconds: number;
  compared: number;
  stale: number;
  different: Date[];
};

/** The functions of the sinks that these commands need; only the sinks know how roll-ups are computed. */
export type RollupStore = {
  checkRollups(sql: Sql, organizationIds: readonly string[]): Promise<CheckedGrain[]>;
  /** @param organizationId null: all */
  rebuildRollups(sql: Sql, organizationId: string | null): Promise<{ recomputed: number; stale: number }>;
};

type Options = { organization?: string };

const GRAIN_NAMES: Readonly<Record<number, string>> = {
  10: '10 seconds',
  60: 'minute',
  1800: 'half hour',
  10800: '3 hours',
  86400: 'day',
};
/** Different buckets of one line that are named. */
const NAMED = 3;

/** Returns the organizations' ids by name: the given one, or all. */
async function chosen(sql: Sql, { organization }: Options): Promise<Map<string, string>> {
  if (organization === undefined) {
    return new Map((await listOrganizations(sql)).map(({ organizationId, name }) => [organizationId, name]));
  }
  const owner = await requireOrganization(sql, organization);
  return new Map([[owner.organizationId, owner.name]]);
}

function namesOf(different: readonly Date[]): string {
  const names = different.slice(0, NAMED).map((begins) => begins.toISOString());
  return different.length > NAMED ? `${names.join(' ')} …` : names.join(' ');
}

function counted(count: number): string {
  return count === 1 ? '1 bucket' : `${count} buckets`;
}

/** Returns the comparison as a table, and the number of buckets that differ. */
async function check(
  store: RollupStore,
  sql: Sql,
  options: Options,
): Promise<{ shown: string; different: number }> {
  const organizations = await chosen(sql, options);
  const checked = await store.checkRollups(sql, [...organizations.keys()]);
  const rows = checked.map(({ organizationId, family, grainSeconds, compared, stale, different }) => [
    organizations.get(organizationId) ?? organizationId,
    family,
    GRAIN_NAMES[grainSeconds] ?? `${grainSeconds} s`,
    String(compared),
    String(stale),
    String(different.length),
    namesOf(different),
  ]);
  return {
    shown: table(['ORGANIZATION', 'FAMILY', 'GRAIN', 'COMPARED', 'STALE', 'DIFFERENT', 'WHICH'], rows),
    different: checked.reduce((sum, one) => sum + one.different.length, 0),
  };
}

async function rebuild(store: RollupStore, sql: Sql, options: Options): Promise<string> {
  const organizations = await chosen(sql, options);
  const only = options.organization === undefined ? null : [...organizations.keys()][0]!;
  const { recomputed, stale } = await store.rebuildRollups(sql, only);
  if (stale === 0) return `Recomputed ${counted(recomputed)}`;
  return `Recomputed ${counted(recomputed)}; ${counted(stale)} changed meanwhile, and are left to the sinks`;
}

/**
 * `rollups check | rebuild`
 * @param load called when one of them runs, so that other commands do not load the sinks' code
 */
export function rollupsCommand(run: RunCommand, load: () => Promise<RollupStore>): Command {
  const rollups = new Command('rollups').description(
    'compare roll-ups with the requests, and make them again',
  );
  const organization = ['--organization <name>', 'those of this organization; default: all'] as const;
  rollups
    .command('check')
    .description('compare every bucket that queries may read with its rows; exits with 1 when one differs')
    .option(...organization)
    .action(async (options: Options) => {
      let different = 0;
      await run(async (sql) => {
        const checked = await check(await load(), sql, options);
        different = checked.different;
        return different > 0 ? checked.shown : `${checked.shown}\n\nThe roll-ups equal their rows`;
      });
      if (different === 0) return;
      const which = options.organization === undefined ? '' : ` --organization ${options.organization}`;
      throw new Error(
        `${counted(different)} of roll-ups do not equal their rows: \`npm start -- rollups rebuild${which}\` makes them again`,
      );
    });
  rollups
    .command('rebuild')
    .description('recompute every bucket from its rows; queries stay right meanwhile')
    .option(...organization)
    .action((options: Options) => run(async (sql) => rebuild(await load(), sql, options)));
  return rollups;
}
