/**
 * Remembers the distributions of the short sessions that began in spans of time long over, so that a query over a year measures
 * the latest ones only. Such a span holds still: where ingest changes one after all, it counts that in
 * `assay.session_spans`, and the span is measured again.
 */
import { LRUCache } from 'lru-cache';
import type { Statement } from '#core/filter/mod.ts';
import { BUCKETS, bucketOf } from '#core/sessions/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { runStatement } from '../requests/mod.ts';
import { draftFor, finish } from './conditions.ts';
import { EACH_MEASURE, type Known, MEASURED, MEASURES, type MeasuredRow, threeDigits } from './measure.ts';

/** The length of a span, and of the longest short session. The schema has it too. */
const SPAN_MS = 6 * 3_600_000;
/** Ingest counts no changes of sessions that began within two spans; one more than the end of that is the earliest that is safe. */
const SETTLED_AFTER_SPANS = 4;
/** A short session lies in two spans. */
const SPANS_OF_A_SESSION = 2;
/** Memory of all digests: a span with two thousand sessions takes some 10 KB. */
const MAX_BYTES = 64 * 1024 * 1024;
const LEAST_BYTES = 200;

/** The distribution of one measure. */
type Digest = { buckets: Uint16Array; counts: Uint32Array; sum: number };
type SpanDigest = { lateChanges: string; measures: Digest[] };

/** Sums of distributions, by bucket. */
export class Sums {
  readonly counts = MEASURES.map(() => new Float64Array(BUCKETS));
  readonly sums = MEASURES.map(() => 0);

  /** Adds distributions of all measures. */
  addDigests(digests: readonly Digest[]): void {
    digests.forEach(({ buckets, counts: added, sum }, measure) => {
      const counts = this.counts[measure]!;
      for (let index = 0; index < buckets.length; index += 1) counts[buckets[index]!]! += added[index]!;
      this.sums[measure]! += sum;
    });
  }
}

/** Returns the settled spans within a window; null when there is none. All times are in milliseconds since the epoch. */
export function settledSpans(fromMs: number, toMs: number, nowMs: number): Known | null {
  const first = Math.ceil(fromMs / SPAN_MS);
  const end = Math.min(
    Math.floor(toMs / SPAN_MS) - SPANS_OF_A_SESSION + 1,
    Math.floor(nowMs / SPAN_MS) - SETTLED_AFTER_SPANS + 1,
  );
  return end <= first ? null : { from: new Date(first * SPAN_MS), to: new Date(end * SPAN_MS) };
}

/** Returns the beginning of the span of a moment. */
export function startOfSpan(ms: number): number {
  return Math.floor(ms / SPAN_MS) * SPAN_MS;
}

/** Remembers digests of spans, for all organizations. */
export class SpanDigests {
  readonly #known = new LRUCache<string, SpanDigest>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ measures }) =>
      LEAST_BYTES + measures.reduce((sum, one) => sum + one.buckets.byteLength + one.counts.byteLength, 0),
  });

  /** Adds the short sessions of settled spans. */
  async addSpans(tx: TransactionSql, organizationId: string, spans: Known, sums: Sums): Promise<void> {
    // First the numbers of changes, then what they may have changed: so a digest is never older than its number.
    const changes = await runStatement<LateChanges>(tx, lateChanges(organizationId, spans));
    const lateChangesOf = new Map(changes.map((row) => [row.began_at.getTime(), row.late_changes]));
    const missing: number[] = [];
    for (let began = spans.from.getTime(); began < spans.to.getTime(); began += SPAN_MS) {
      const known = this.#known.get(`${organizationId} ${began}`);
      if (known === undefined || known.lateChanges !== (lateChangesOf.get(began) ?? '0')) missing.push(began);
      else sums.addDigests(known.measures);
    }
    if (missing.length === 0) return;
    const rows = await runStatement<MeasuredSpan>(tx, measureSpans(organizationId, missing));
    const bySpan = Map.groupBy(rows, (row) => row.began_at.getTime());
    for (const began of missing) {
      const measures = digestsOf(bySpan.get(began) ?? []);
      const lateChangesNow = lateChangesOf.get(began) ?? '0';
      this.#known.set(`${organizationId} ${began}`, { lateChanges: lateChangesNow, measures });
      sums.addDigests(measures);
    }
  }
}

type LateChanges = { began_at: Date; late_changes: string };

function lateChanges(organizationId: string, { from, to }: Known): Statement {
  const draft = draftFor(organizationId);
  const { parameters, organization } = draft;
  const bind = (moment: Date) => parameters.bind(moment.toISOString(), 'timestamptz');
  const text = `select began_at, late_changes from assay.session_spans
    where organization_id = ${organization} and began_at >= ${bind(from)} and began_at < ${bind(to)}`;
  return finish(draft, text);
}

type MeasuredSpan = Omit<MeasuredRow, 'is_large'> & { began_at: Date };

function measureSpans(organizationId: string, spans: readonly number[]): Statement {
  const draft = draftFor(organizationId);
  const { parameters, organization } = draft;
  const began = spans.map((ms) => new Date(ms).toISOString());
  const text = `
    select began_at, measure, array_agg(value order by value) as values,
           array_agg(count order by value) as counts, sum(sum) as sum
      from (
        select d.began_at, v.measure, ${threeDigits('v.value')} as value, count(*) as count, sum(v.value) as sum
          from unnest(${parameters.bind(began, 'text[]')}::timestamptz[]) as d (began_at)
          cross join lateral (
            select ${MEASURED} from assay.sessions s
             where s.organization_id = ${organization} and not s.is_long and s.first_at >= d.began_at
               and s.first_at < d.began_at + interval '6 hours') m
          ${EACH_MEASURE}
         where v.value is not null group by 1, 2, 3) grouped
     group by began_at, measure`;
  return finish(draft, text);
}

/** Returns the distributions of all measures; a measure without a row has no values. */
export function digestsOf(
  rows: readonly Pick<MeasuredRow, 'measure' | 'values' | 'counts' | 'sum'>[],
): Digest[] {
  return MEASURES.map((_, measure) => {
    const row = rows.find((one) => one.measure === measure);
    return {
      buckets: Uint16Array.from(row?.values ?? [], (value) => bucketOf(Number(value))),
      counts: Uint32Array.from(row?.counts ?? [], Number),
      sum: Number(row?.sum ?? 0),
    };
  });
}
