/** Compares roll-ups with sums of the rows. */
import { FAMILY_NAMES, type FamilyName, GRAINS, type Grain } from '#core/rollups/mod.ts';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';
import { planRollups } from '#platform/rollups/mod.ts';
import { findBuckets } from './buckets.ts';
import { CELLS, type CellTable } from './cells/mod.ts';

/** The buckets of a family and a grain of one organization. */
export type CheckedGrain = {
  organizationId: string;
  family: FamilyName;
  grainSeconds: number;
  /** Buckets that were compared with their rows. */
  compared: number;
  /** Buckets that no query reads, because they are to be recomputed. */
  stale: number;
  /** The beginnings of buckets that do not equal their rows. */
  different: Date[];
};

/** Buckets of one statement, by the seconds of their grain. */
const AT_ONCE: Readonly<Record<number, number>> = { 10: 500, 60: 200, 1800: 20, 10800: 5, 86400: 1 };
/** Fine buckets may be dropped while they are compared. */
const MARGIN_MS = 5 * 60_000;
const SETTINGS = `set local statement_timeout = 0; set local work_mem = '32MB'`;

/**
 * Compares all buckets that queries may read. Reads only; sinks and ingest may run.
 * @throws Error when the roll-ups have not started, or are too far behind to know the stale buckets
 */
export async function checkRollups(sql: Sql, organizationIds: readonly string[]): Promise<CheckedGrain[]> {
  const checked: CheckedGrain[] = [];
  for (const organizationId of organizationIds) {
    for (const family of FAMILY_NAMES) {
      for (const grain of GRAINS[family]) checked.push(await checkGrain(sql, organizationId, family, grain));
    }
  }
  return checked;
}

async function checkGrain(
  sql: Sql,
  organizationId: string,
  family: FamilyName,
  { seconds, keptMs }: Grain,
): Promise<CheckedGrain> {
  const oldestMs = keptMs === null ? null : keptMs - MARGIN_MS;
  const all = await findBuckets(sql, { organizationId, family, grainSeconds: seconds, oldestMs });
  const checked: CheckedGrain = {
    organizationId,
    family,
    grainSeconds: seconds,
    compared: 0,
    stale: 0,
    different: [],
  };
  const atOnce = AT_ONCE[seconds]!;
  for (let first = 0; first < all.length; first += atOnce) {
    const buckets = all.slice(first, first + atOnce);
    // One snapshot for the marks, the changes that are not applied, the cells and the rows.
    await sql.begin('isolation level repeatable read read only', async (tx) => {
      await tx.unsafe(SETTINGS);
      const clean = await cleanOf(tx, organizationId, family, seconds, buckets);
      checked.compared += clean.length;
      checked.stale += buckets.length - clean.length;
      checked.different.push(...(await differing(tx, organizationId, family, seconds, clean)));
    });
  }
  return checked;
}

/** Returns the buckets that a query reads as they are. */
async function cleanOf(
  tx: TransactionSql,
  organizationId: string,
  family: FamilyName,
  seconds: number,
  buckets: readonly Date[],
): Promise<Date[]> {
  const lengthMs = seconds * 1_000;
  const fromMs = buckets[0]!.getTime();
  const toMs = buckets.at(-1)!.getTime() + lengthMs;
  await tx`select set_config('assay.organization', ${organizationId}, true)`;
  const state = await planRollups(tx, organizationId, { family, fromMs, toMs, boundariesMs: [] });
  if (state === null) throw new Error('There are no roll-ups yet: they are made while ingest runs');
  if (!state.isCurrent) {
    throw new Error(
      'The roll-ups are too far behind the changes to be checked: let ingest run, and try again',
    );
  }
  return buckets.filter((begins) => !(state.stale.get(seconds)?.has(begins.getTime()) ?? false));
}

/** Returns the buckets whose cells differ from sums of the rows. */
async function differing(
  tx: TransactionSql,
  organizationId: string,
  family: FamilyName,
  seconds: number,
  buckets: readonly Date[],
): Promise<Date[]> {
  if (buckets.length === 0) return [];
  const { fromRows, tables } = CELLS[family];
  const different = new Set<number>();
  for (const table of tables) {
    const rows = await tx.unsafe<{ begins_at: Date }[]>(
      `with ${fromRows}, ${comparison(table)}
       select distinct begins_at from (
         (select * from expected except all select * from stored)
          union all
         (select * from stored except all select * from expected)) differing`,
      [buckets.map(() => organizationId), buckets.map((begins) => begins.toISOString()), seconds],
    );
    for (const { begins_at } of rows) different.add(begins_at.getTime());
  }
  return [...different].sort((left, right) => left - right).map((ms) => new Date(ms));
}

/** Returns the expressions `expected` and `stored`. */
function comparison(table: CellTable): string {
  const columns = table.columns.join(', ');
  const stored = `
    found_cells as (
      select found.* from due cross join lateral (
        select ${columns} from assay.${table.table}
         where organization_id = due.organization_id and grain_seconds = $3::integer and begins_at = due.begins_at offset 0) found)`;
  if (table.table !== 'rollup_values') {
    return `${stored}, expected as (select ${columns} from ${table.from}), stored as (select ${columns} from found_cells)`;
  }
  return `${stored}, expected as (${withOthers(table, table.from)}), stored as (${withOthers(table, 'found_cells')})`;
}

/**
 * Which values of a property are the commonest depends on whether they were counted in rows or in parts that have lost rare ones.
 * So the values of a property that has others are compared as one sum.
 */
function withOthers({ columns }: CellTable, from: string): string {
  const key = 'organization_id, begins_at, dimension, name, source';
  const sums = columns
    .filter((name) => !`${key}, value, is_other`.split(', ').includes(name))
    .map((name) =>
      name === 'first_at' ? `min(${name})` : name === 'last_at' ? `max(${name})` : `sum(${name})`,
    );
  return `
    select ${key}, case when has_others then '' else value end as value, ${sums.join(', ')}
      from (select *, bool_or(is_other) over (partition by ${key}) as has_others from ${from}) cell
     group by ${key}, 6`;
}
