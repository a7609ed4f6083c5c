/**
 * Remembers the distributions of the short sessions that began on days long over, so that a query over a year measures the latest days
 * only. Such days hold still: where ingest changes one after all, it counts that in `assay.session_days`, and the day is
 * measured again.
 */
import { LRUCache } from 'lru-cache';
import type { Statement } from '#core/filter/mod.ts';
import { BUCKETS, bucketOf } from '#core/sessions/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { runStatement } from '../requests/mod.ts';
import { draftFor, finish } from './conditions.ts';
import { type Days, EACH_MEASURE, MEASURED, MEASURES, threeDigits } from './measure.ts';

const DAY_MS = 86_400_000;
/** Ingest counts no changes of sessions that began within two days; a day later than the end of that is the earliest that is safe. */
const SETTLED_AFTER_DAYS = 4;
/** A short session lies in two days. */
const DAYS_OF_A_SESSION = 2;
/** Memory of all digests: a day with ten thousand sessions takes some 30 KB. */
const MAX_BYTES = 64 * 1024 * 1024;
const LEAST_BYTES = 200;

/** The distribution of one measure. */
type Digest = { buckets: Uint16Array; counts: Uint32Array; sum: number };
type DayDigest = { lateChanges: string; measures: Digest[] };

/** Sums of distributions, by bucket. */
export class Sums {
  readonly counts = MEASURES.map(() => new Float64Array(BUCKETS));
  readonly sums = MEASURES.map(() => 0);

  /** Adds `count` values of a measure, which sum up to `sum`. */
  add(measure: number, value: number, count: number, sum: number): void {
    const counts = this.counts[measure]!;
    counts[bucketOf(value)]! += count;
    this.sums[measure]! += sum;
  }

  /** Adds distributions of all measures. */
  addDigests(digests: readonly Digest[]): void {
    digests.forEach(({ buckets, counts: added, sum }, measure) => {
      const counts = this.counts[measure]!;
      for (let index = 0; index < buckets.length; index += 1) counts[buckets[index]!]! += added[index]!;
      this.sums[measure]! += sum;
    });
  }
}

/** Returns the settled days within a window; null when there is none. All times are in milliseconds since the epoch. */
export function settledDays(fromMs: number, toMs: number, nowMs: number): Days | null {
  const first = Math.ceil(fromMs / DAY_MS);
  const end = Math.min(
    Math.floor(toMs / DAY_MS) - DAYS_OF_A_SESSION + 1,
    Math.floor(nowMs / DAY_MS) - SETTLED_AFTER_DAYS + 1,
  );
  return end <= first ? null : { first: dayText(first), end: dayText(end) };
}

const dayText = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10);

function daysOf({ first, end }: Days): string[] {
  const [from, to] = [Date.parse(first) / DAY_MS, Date.parse(end) / DAY_MS];
  return Array.from({ length: to - from }, (_, index) => dayText(from + index));
}

/** Remembers digests of days, for all organizations. */
export class DayDigests {
  readonly #known = new LRUCache<string, DayDigest>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ measures }) =>
      LEAST_BYTES + measures.reduce((sum, one) => sum + one.buckets.byteLength + one.counts.byteLength, 0),
  });

  /** Adds the short sessions of settled days. */
  async addDays(tx: TransactionSql, organizationId: string, days: Days, sums: Sums): Promise<void> {
    // First the numbers of changes, then what they may have changed: so a digest is never older than its number.
    const changes = await runStatement<{ day: string; late_changes: string }>(
      tx,
      lateChanges(organizationId, days),
    );
    const lateChangesOf = new Map(changes.map((row) => [row.day, row.late_changes]));
    const missing: string[] = [];
    for (const day of daysOf(days)) {
      const known = this.#known.get(`${organizationId} ${day}`);
      if (known === undefined || known.lateChanges !== (lateChangesOf.get(day) ?? '0')) missing.push(day);
      else sums.addDigests(known.measures);
    }
    if (missing.length === 0) return;
    const rows = await runStatement<MeasuredDay>(tx, measureDays(organizationId, missing));
    const byDay = Map.groupBy(rows, (row) => row.day);
    for (const day of missing) {
      const digest = digestOf(byDay.get(day) ?? [], lateChangesOf.get(day) ?? '0');
      this.#known.set(`${organizationId} ${day}`, digest);
      sums.addDigests(digest.measures);
    }
  }
}

function lateChanges(organizationId: string, { first, end }: Days): Statement {
  const draft = draftFor(organizationId);
  const { parameters, organization } = draft;
  const text = `select day::text, late_changes from assay.session_days
    where organization_id = ${organization} and day >= ${parameters.bind(first, 'date')} and day < ${parameters.bind(end, 'date')}`;
  return finish(draft, text);
}

type MeasuredDay = { day: string; measure: number; values: string[]; counts: string[]; sum: string };

function measureDays(organizationId: string, days: readonly string[]): Statement {
  const draft = draftFor(organizationId);
  const { parameters, organization } = draft;
  const text = `
    select day, measure, array_agg(value order by value) as values, array_agg(count order by value) as counts,
           sum(sum) as sum
      from (
        select d.day::text as day, v.measure, ${threeDigits('v.value')} as value, count(*) as count,
               sum(v.value) as sum
          from unnest(${parameters.bind(days, 'date[]')}) as d (day)
          cross join lateral (
            select ${MEASURED} from assay.sessions s
             where s.organization_id = ${organization} and not s.is_long
               and s.first_at >= d.day::timestamp at time zone 'UTC'
               and s.first_at < (d.day + 1)::timestamp at time zone 'UTC') m
          ${EACH_MEASURE}
         where v.value is not null group by 1, 2, 3) grouped
     group by day, measure`;
  return finish(draft, text);
}

function digestOf(rows: readonly MeasuredDay[], lateChangesNow: string): DayDigest {
  const measures = MEASURES.map((_, measure) => {
    const row = rows.find((one) => one.measure === measure);
    return {
      buckets: Uint16Array.from(row?.values ?? [], (value) => bucketOf(Number(value))),
      counts: Uint32Array.from(row?.counts ?? [], Number),
      sum: Number(row?.sum ?? 0),
    };
  });
  return { lateChanges: lateChangesNow, measures };
}
