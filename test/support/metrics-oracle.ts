/**
 * What a query for metrics answers, in plain JavaScript over the records: written from the contract, with luxon for the
 * calendar. Shares nothing with core/metrics and api/metrics, and does not try to be quick.
 */
import { DateTime } from 'luxon';
import type { MetricsQueryBody } from '#core/contracts/metrics.ts';
import type { SeedRequest } from './seed-requests.ts';

export type OracleQuery = MetricsQueryBody & {
  range: { from: number; to: number };
  bucket: 'minute' | '5m' | 'hour' | 'day' | 'week' | 'month' | 'none';
};
type Values = (number | null)[];
type Period = { points: Values[]; total: Values };
export type OracleAnswer = {
  series: (Period & { group: Record<string, string | number | null> })[];
  other: Period | null;
  total: Period;
};

type Measure = MetricsQueryBody['measures'][number];

/** A request's value of a metric; null: it has none. Money in nano-dollars, tokens per second in thousandths. */
function valueIn(metric: string, row: SeedRequest): number | null {
  const flag = (isTrue: boolean) => (isTrue ? 1 : 0);
  switch (metric) {
    case 'requests':
      return 1;
    case 'errors':
      return flag(row.status >= 400);
    case 'cache_hits':
      return flag(row.cached_from !== null);
    case 'feedback':
      return row.feedback_rating === null ? null : flag(row.feedback_rating);
    case 'cost':
      return row.cost_nano;
    case 'prompt_tokens':
    case 'completion_tokens':
    case 'total_tokens':
      return row[metric];
    case 'latency':
      return row.latency_ms;
    case 'ttft':
      return row.ttft_ms;
    case 'tokens_per_second': {
      const ms = (row.latency_ms ?? 0) - (row.ttft_ms ?? 0);
      if (row.completion_tokens === null || row.completion_tokens === 0) return null;
      return row.cached_from !== null || ms <= 0
        ? null
        : Math.floor((row.completion_tokens * 1_000_000) / ms);
    }
    case 'cost_saved':
      return row.cost_saved_nano;
    default:
      return row.scores[metric.slice('score:'.length)] ?? null;
  }
}

const UNITS: Record<string, number> = { cost: 1e9, cost_saved: 1e9, tokens_per_second: 1e3 };

function aggregateOf(
  { metric, aggregate }: Measure,
  rows: readonly SeedRequest[],
  minutes: number,
): number | null {
  const values = rows.flatMap((row) => valueIn(metric, row) ?? []).sort((one, other) => one - other);
  const unit = UNITS[metric] ?? 1;
  const sum = values.reduce((total, value) => total + value, 0) / unit;
  const isCountOfTrue = metric === 'errors' || metric === 'cache_hits';
  const hasTokens = rows.some((row) => row.total_tokens !== null);
  const isUnknown = metric === 'cost' && hasTokens && values.length === 0;
  switch (aggregate) {
    case 'count':
      return isCountOfTrue ? sum : values.length;
    case 'sum':
      return isUnknown ? null : sum;
    case 'rate':
      return isUnknown ? null : sum / minutes;
    case 'avg':
      return values.length === 0 ? null : sum / values.length;
    case 'min':
      return values.length === 0 ? null : values[0]! / unit;
    case 'max':
      return values.length === 0 ? null : values.at(-1)! / unit;
    default: {
      if (values.length === 0) return null;
      const rank = (Number(aggregate.slice(1)) / 100) * (values.length - 1);
      const [low, high] = [values[Math.floor(rank)]!, values[Math.ceil(rank)]!];
      return (low + (high - low) * (rank - Math.floor(rank))) / unit;
    }
  }
}

/** When the bucket of a time begins. */
function beginOf(ms: number, { bucket, range, timeZone }: OracleQuery): number {
  if (bucket === 'none') return range.from;
  if (bucket === '5m') return Math.floor(ms / 300_000) * 300_000;
  return DateTime.fromMillis(ms, { zone: timeZone ?? 'UTC' })
    .startOf(bucket)
    .toMillis();
}

/** When the bucket that begins then ends. */
function endOf(begin: number, { bucket, range, timeZone }: OracleQuery): number {
  if (bucket === 'none') return range.to;
  if (bucket === '5m') return begin + 300_000;
  const time = DateTime.fromMillis(begin, { zone: timeZone ?? 'UTC' });
  return time.endOf(bucket).toMillis() + 1;
}

function groupValue(name: string, row: SeedRequest): string | number | null {
  switch (name) {
    case 'model':
    case 'provider':
    case 'status':
    case 'error_code':
    case 'source':
    case 'path':
    case 'prompt_id':
    case 'prompt_version':
      return row[name];
    case 'api_key':
      return row.api_key_id;
    case 'user':
      return row.user_id;
    default: {
      const wanted = name.slice('property:'.length).toLowerCase();
      const found = Object.entries(row.properties ?? {}).findLast(([key]) => key.toLowerCase() === wanted);
      return found?.[1] ?? null;
    }
  }
}

/** Texts by their code points, null last. */
function compareValues(one: string | number | null, other: string | number | null): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)));
}

/**
 * Evaluates a query, without its comparison.
 * @param passes whether a request passes the query's filter
 */
export function evaluateMetrics(
  all: readonly SeedRequest[],
  query: OracleQuery,
  passes: (row: SeedRequest) => boolean,
): OracleAnswer {
  const { measures, range, groupBy = [], limit = 10, sources = ['gateway', 'api', 'playground'] } = query;
  const rows = all.filter((row) => {
    const at = row.created_at.getTime();
    return at >= range.from && at < range.to && sources.some((one) => one === row.source) && passes(row);
  });
  const begins: number[] = [];
  for (let begin = beginOf(range.from, query); begin < range.to; begin = endOf(begin, query))
    begins.push(begin);
  const valuesOf = (some: readonly SeedRequest[], from: number, to: number) =>
    measures.map((measure) => aggregateOf(measure, some, (to - from) / 60_000));
  const periodOf = (some: readonly SeedRequest[]): Period => ({
    points: begins.map((begin) => {
      const inside = some.filter(
        (row) => beginOf(row.created_at.getTime(), query) === begin || begins.length === 1,
      );
      return [
        begin,
        ...valuesOf(inside, Math.max(begin, range.from), Math.min(endOf(begin, query), range.to)),
      ];
    }),
    total: valuesOf(some, range.from, range.to),
  });
  if (groupBy.length === 0)
    return { series: [{ group: {}, ...periodOf(rows) }], other: null, total: periodOf(rows) };

  const groups = Map.groupBy(rows, (row) => JSON.stringify(groupBy.map((name) => groupValue(name, row))));
  const { measure = 0, direction = 'desc' } = query.orderBy ?? {};
  const ordered = [...groups].sort(([oneKey, one], [otherKey, other]) => {
    const [oneValue, otherValue] = [one, other].map((some) => valuesOf(some, range.from, range.to)[measure]!);
    if (oneValue === null || otherValue === null) {
      if (oneValue !== otherValue) return Number(oneValue === null) - Number(otherValue === null);
    } else if (oneValue !== otherValue) {
      return direction === 'asc' ? oneValue! - otherValue! : otherValue! - oneValue!;
    }
    const [oneGroup, otherGroup] = [JSON.parse(oneKey), JSON.parse(otherKey)];
    for (const index of groupBy.keys()) {
      const order = compareValues(oneGroup[index], otherGroup[index]);
      if (order !== 0) return order;
    }
    return 0;
  });
  const rest = ordered.slice(limit).flatMap(([, some]) => some);
  return {
    series: ordered.slice(0, limit).map(([key, some]) => ({
      group: Object.fromEntries(groupBy.map((name, index) => [name, JSON.parse(key)[index]])),
      ...periodOf(some),
    })),
    other: ordered.length > limit ? periodOf(rest) : null,
    total: periodOf(rows),
  };
}
