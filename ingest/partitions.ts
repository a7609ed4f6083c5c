/** The partitions of requests and of all that belongs to them: one for each week. */
import type { Sql } from '#platform/postgres/mod.ts';
import type { StorableRecord } from './build-record.ts';

const WEEK_MS = 7 * 24 * 3_600_000;
/** 1 January 1970 was a Thursday; partitions begin on Mondays. */
const MONDAY_OFFSET_MS = 3 * 24 * 3_600_000;

function weekOf(moment: Date): number {
  return Math.floor((moment.getTime() + MONDAY_OFFSET_MS) / WEEK_MS);
}

/** Creates the partitions for these moments. Run outside of transactions, so that its locks are short. */
export async function ensurePartitions(sql: Sql, moments: readonly Date[]): Promise<void> {
  await sql`select assay.ensure_partitions(moment) from unnest(${moments.map((moment) => moment.toISOString())}::timestamptz[]) as moment`;
}

/** Makes missing partitions, and remembers those that are there. */
export class Partitions {
  readonly #sql: Sql;
  readonly #weeks = new Set<number>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Makes the partitions of records where they are missing, in transactions of their own. */
  async ensure(records: readonly StorableRecord[]): Promise<void> {
    const missing = new Map<number, Date>();
    for (const { request } of records) {
      const week = weekOf(request.created_at);
      if (!this.#weeks.has(week)) missing.set(week, request.created_at);
    }
    if (missing.size === 0) return;
    await ensurePartitions(this.#sql, [...missing.values()]);
    for (const week of missing.keys()) this.#weeks.add(week);
  }

  /** Asks Postgres again for each week, as after one was found missing that was there. */
  forget(): void {
    this.#weeks.clear();
  }
}
