/** Distributions over sessions. */
import type { SessionMetrics, SessionMetricsQueryBody } from '#core/contracts/session.ts';
import type { Statement } from '#core/filter/mod.ts';
import { countOf, histogramOf, type Point, percentileOf, valueOfBucket } from '#core/sessions/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { nanoToUsd, runStatement } from '../requests/mod.ts';
import { draftFor, finish, isAll, requestsInSessions, windowCondition } from './conditions.ts';
import {
  type Distribution,
  EXACT_SESSIONS,
  type Known,
  MEASURES,
  type Measure,
  type MeasuredRow,
  measureFiltered,
  measureWindow,
} from './measure.ts';
import type { SessionsQuery, Window } from './read-query.ts';
import { digestsOf, type SpanDigests, Sums, settledSpans, startOfSpan } from './span-digests.ts';

type Measured = { distributions: Record<Measure, Distribution>; isExact: boolean };

/** Measures the sessions that a query finds. */
export async function measureSessions(
  tx: TransactionSql,
  organizationId: string,
  query: SessionsQuery,
  digests: SpanDigests,
): Promise<Measured> {
  if (!isAll(query.filter)) {
    const from = await requestsInSessions(tx, organizationId, query);
    return measuredOf(await runStatement<MeasuredRow>(tx, measureFiltered(organizationId, from)));
  }
  const known = await knownSpans(tx, organizationId, query);
  const statement = measureWindow(organizationId, query.window, query.names, known);
  const rows = await runStatement<MeasuredRow>(tx, statement);
  if (known === null) return measuredOf(rows);
  const sums = new Sums();
  sums.addDigests(digestsOf(rows));
  await digests.addSpans(tx, organizationId, known, sums);
  return { distributions: byMeasure((measure) => summed(sums, measure)), isExact: false };
}

/** Returns the spans whose digests spare much work; null when there are none, or few sessions. */
async function knownSpans(
  tx: TransactionSql,
  organizationId: string,
  { window, names }: SessionsQuery,
): Promise<Known | null> {
  if (names.search !== null || names.contains !== null || names.equals !== null) return null;
  const [begun] = await runStatement<{ first_at: Date | null; now: Date; count: string }>(
    tx,
    countBegun(organizationId, window),
  );
  if (begun === undefined || begun.first_at === null || Number(begun.count) <= EXACT_SESSIONS) return null;
  const from = Math.max(window.from?.getTime() ?? 0, begun.first_at.getTime());
  return settledSpans(
    window.from === null || from > window.from.getTime() ? startOfSpan(from) : from,
    window.to?.getTime() ?? begun.now.getTime(),
    begun.now.getTime(),
  );
}

/** Selects when the first session began, the time, and how many began in the window, up to those that are measured exactly. */
function countBegun(organizationId: string, window: Window): Statement {
  const draft = draftFor(organizationId);
  const own = `from assay.sessions s where s.organization_id = ${draft.organization}`;
  const text = `
    select (select min(s.first_at) ${own}) as first_at, now() as now,
           (select count(*) from (select ${own}${windowCondition(window, 's.first_at', draft)}
                                   limit ${EXACT_SESSIONS + 1}) begun) as count`;
  return finish(draft, text);
}

function byMeasure<T>(make: (measure: number) => T): Record<Measure, T> {
  return { session_count: make(0), session_duration: make(1), session_cost: make(2) };
}

function measuredOf(rows: readonly MeasuredRow[]): Measured {
  const distribution = (measure: number): Distribution => {
    const row = rows.find((one) => one.measure === measure);
    return {
      points: row?.values.map((value, index) => [Number(value), Number(row.counts[index])] as const) ?? [],
      sum: Number(row?.sum ?? 0),
    };
  };
  return { distributions: byMeasure(distribution), isExact: !rows.some((row) => row.is_large) };
}

function summed(sums: Sums, measure: number): Distribution {
  const points: Point[] = [];
  sums.counts[measure]!.forEach((count, bucket) => {
    if (count > 0) points.push([valueOfBucket(bucket), count]);
  });
  return { points, sum: sums.sums[measure]! };
}

/** The least bar of each histogram, from zero, and how its numbers are shown. */
const SHOWN: Readonly<Record<Measure, { unit: number; show(value: number): number }>> = {
  session_count: { unit: 1, show: (value) => value },
  session_duration: { unit: 1_000, show: (ms) => ms / 1_000 },
  session_cost: { unit: 1_000, show: (nano) => nanoToUsd(String(nano)) },
};
const SHARES = { p50: 0.5, p75: 0.75, p95: 0.95, p99: 0.99, 'p99.9': 0.999 } as const;

/** Returns distributions as the API shows them. */
export function metricsJson(
  { distributions, isExact }: Measured,
  { pSize, useInterquartile = false }: SessionMetricsQueryBody,
): SessionMetrics {
  const of = <T>(make: (measure: Measure, distribution: Distribution) => T) =>
    byMeasure((index) => make(MEASURES[index]!, distributions[MEASURES[index]!]));
  return {
    ...of((measure, { points }) => {
      const least = useInterquartile ? (percentileOf(points, 0.25) ?? 0) : 0;
      const most =
        pSize === undefined ? Number.POSITIVE_INFINITY : (percentileOf(points, SHARES[pSize]) ?? 0);
      const drawn = points.filter(([value]) => value >= least && value <= most);
      const { unit, show } = SHOWN[measure];
      return histogramOf(drawn, unit).map(({ start, end, count }) => ({
        range_start: show(start),
        range_end: show(end),
        value: count,
      }));
    }),
    average: of((measure, distribution) => [{ average: meanOf(measure, distribution) }]),
    summary: of((measure, distribution) => {
      const percentile = (share: number) => {
        const value = percentileOf(distribution.points, share);
        return value === null ? null : SHOWN[measure].show(value);
      };
      return {
        count: countOf(distribution.points),
        mean: meanOf(measure, distribution),
        p50: percentile(0.5),
        p90: percentile(0.9),
        p99: percentile(0.99),
      };
    }),
    exact: isExact,
  };
}

function meanOf(measure: Measure, { points, sum }: Distribution): number | null {
  const count = countOf(points);
  // Divided before it is shown: a mean of nano-dollars has a fraction, which USD as a number holds.
  return count === 0
    ? null
    : measure === 'session_cost'
      ? sum / count / 1e9
      : SHOWN[measure].show(sum / count);
}
