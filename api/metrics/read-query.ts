/** Checks the body of `/v1/metrics/query`, and converts it into the query that statements take. */
import { quoteValue } from '#core/contracts/check.ts';
import { filterOf } from '#core/contracts/filter-or-q.ts';
import { invalidField } from '#core/contracts/invalid.ts';
import type { Source } from '#core/contracts/log-entry.ts';
import {
  DEFAULT_GROUPS,
  DIMENSIONS,
  type DimensionName,
  type MetricsQueryBody,
  type MomentBody,
} from '#core/contracts/metrics.ts';
import { foldName } from '#core/contracts/storable-text.ts';
import { type Filter, parseFilter, parseMoment } from '#core/filter/mod.ts';
import {
  autoUnit,
  bucketBegins,
  isTimeZone,
  type Measure,
  mostBuckets,
  previousRange,
  type Range,
  readMeasure,
  type Unit,
} from '#core/metrics/mod.ts';

/** A dimension that requests are grouped by; a property by its folded name. */
export type Dimension =
  | { readonly name: DimensionName; readonly property: null; readonly label: string }
  | { readonly name: 'property'; readonly property: string; readonly label: string };

/** A range with the beginnings of its buckets. */
export type Period = { readonly range: Range; readonly begins: readonly number[] };

export type MetricsQuery = {
  readonly measures: readonly Measure[];
  readonly groupBy: readonly Dimension[];
  readonly filter: Filter;
  readonly sources: readonly Source[];
  readonly unit: Unit;
  readonly timeZone: string;
  readonly period: Period;
  /** The period to compare with; null: none. */
  readonly previous: Period | null;
  readonly limit: number;
  readonly order: { readonly measure: number; readonly direction: 'asc' | 'desc' };
};

const DEFAULT_SOURCES: readonly Source[] = ['gateway', 'api', 'playground'];
/** Maximum values of one answer: writing more, several megabytes of JSON, would hold up other calls. */
const MAX_VALUES = 250_000;
const CALENDAR_UNITS: ReadonlySet<Unit> = new Set(['day', 'week', 'month']);
/** Maximum days, weeks or months: thirteen years of days. Finding where they begin in a time zone takes some 20 µs for each. */
const MAX_CALENDAR_BUCKETS = 5_000;

/**
 * Returns a checked body as a query.
 * @throws AssayError invalid_body, invalid_filter
 */
export function readMetricsQuery(body: MetricsQueryBody): MetricsQuery {
  const { measures, timeZone = 'UTC', bucket = 'auto', limit = DEFAULT_GROUPS } = body;
  if (!isTimeZone(timeZone)) {
    throw invalidField(
      'timeZone',
      `must be a name of the IANA database, such as Europe/Berlin, but is ${quoteValue(timeZone)}`,
    );
  }
  const range = readRange(body.range);
  const unit = bucket === 'auto' ? autoUnit(range) : bucket;
  const isCompared = body.compareWith === 'previous';
  if (CALENDAR_UNITS.has(unit) && mostBuckets(range, unit) > MAX_CALENDAR_BUCKETS)
    throw invalidField(
      'bucket',
      `must be longer, or range shorter: it has more than the ${MAX_CALENDAR_BUCKETS} days, weeks or months allowed`,
    );
  const groups = body.groupBy === undefined || body.groupBy.length === 0 ? 1 : limit + 2;
  const values = mostBuckets(range, unit) * groups * measures.length * (isCompared ? 2 : 1);
  if (values > MAX_VALUES) {
    throw invalidField(
      'bucket',
      `must be longer, or range shorter, or limit lower: the answer could hold ${values} values, and at most ${MAX_VALUES} are allowed`,
    );
  }
  const periodOf = (one: Range): Period => ({ range: one, begins: bucketBegins(one, unit, timeZone) });
  return {
    measures: measures.map((measure, index) => readMeasure(measure, `measures[${index}]`)),
    groupBy: (body.groupBy ?? []).map(readDimension),
    filter: parseFilter(filterOf(body, { otherwise: 'all' })),
    sources: body.sources ?? DEFAULT_SOURCES,
    unit,
    timeZone,
    period: periodOf(range),
    previous: isCompared ? periodOf(previousRange(range, timeZone)) : null,
    limit,
    order: readOrder(body),
  };
}

function readOrder({ orderBy = {}, measures }: MetricsQueryBody): MetricsQuery['order'] {
  const { measure = 0, direction = 'desc' } = orderBy;
  if (measure >= measures.length) {
    throw invalidField(
      'orderBy.measure',
      `must be an index into measures, from 0 to ${measures.length - 1}, but is ${measure}`,
    );
  }
  return { measure, direction };
}

function readDimension(label: string): Dimension {
  const name = DIMENSIONS.find((one) => one === label);
  if (name !== undefined) return { name, property: null, label };
  return { name: 'property', property: foldName(label.slice('property:'.length)), label };
}

function readRange({ from, to }: { from: MomentBody; to: MomentBody }): Range {
  const range = { fromMs: readMoment(from, 'range.from'), toMs: readMoment(to, 'range.to') };
  if (range.toMs <= range.fromMs) {
    throw invalidField('range.to', `must be after range.from, ${quoteValue(from)}, but is ${quoteValue(to)}`);
  }
  return range;
}

function readMoment(moment: MomentBody, path: string): number {
  const ms = typeof moment === 'number' ? moment : parseMoment(moment);
  if (ms !== null && ms >= EARLIEST_RANGE_MS && ms <= LATEST_RANGE_MS) return ms;
  throw invalidField(
    path,
    `must be a time in RFC 3339, a date, or milliseconds since the epoch, from the year 1970 to 2099, but is ${quoteValue(moment)}`,
  );
}

/** Requests are stored from 2020 on, and up to a month ahead of the clock. */
const EARLIEST_RANGE_MS = 0;
const LATEST_RANGE_MS = Date.UTC(2100, 0, 1);
