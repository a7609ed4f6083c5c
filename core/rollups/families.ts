/** The families of roll-ups: their sums, the lengths of their buckets, and the ages up to which these are kept. */
import type { ChangesOfKind } from '../contracts/changes.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A length of buckets, which begin at its multiples since the epoch. */
export type Grain = {
  seconds: number;
  /** Age of the oldest buckets that are kept, in milliseconds; null: all are. */
  keptMs: number | null;
};

/** Sums of all requests; by user and property; of scores and feedback. */
export const FAMILY_NAMES = ['totals', 'values', 'scores'] as const;
export type FamilyName = (typeof FAMILY_NAMES)[number];

/** The families whose sums a kind of change is part of. */
export const FAMILIES_OF_CHANGE: Readonly<Record<ChangesOfKind['kind'], readonly FamilyName[]>> = {
  record: FAMILY_NAMES,
  deleted: FAMILY_NAMES,
  score: ['scores'],
  feedback: ['scores'],
  property: ['values'],
  evaluation: [],
  event: [],
};

/**
 * The grains of each family, from the finest to the coarsest. Each divides the next. Half hours, because time zones differ from
 * UTC by multiples of a quarter, and nearly all of them by multiples of a half.
 */
export const GRAINS: Readonly<Record<FamilyName, readonly Grain[]>> = {
  totals: [
    { seconds: 10, keptMs: 2 * HOUR_MS },
    { seconds: 60, keptMs: 2 * DAY_MS },
    { seconds: 1_800, keptMs: null },
    // A day of another time zone is seven or eight of these and some half hours, in place of 48 half hours.
    { seconds: 10_800, keptMs: null },
    { seconds: 86_400, keptMs: null },
  ],
  // There are nearly as many of these as requests, so fine ones are kept for as long as "today" and "a week" need.
  values: [
    { seconds: 60, keptMs: 2 * HOUR_MS },
    { seconds: 1_800, keptMs: 8 * DAY_MS },
    { seconds: 86_400, keptMs: null },
  ],
  scores: [
    { seconds: 60, keptMs: 2 * DAY_MS },
    { seconds: 1_800, keptMs: null },
    { seconds: 86_400, keptMs: null },
  ],
};

/**
 * Time between the last reading of a bucket and its removal: more than the clocks of two processes differ, and than a query
 * takes.
 */
const READ_MARGIN_MS = 10 * 60_000;

/** Returns the beginning of the oldest bucket of a grain that may be read; -Infinity: all. */
export function readableFromMs({ keptMs }: Grain, nowMs: number): number {
  return keptMs === null ? Number.NEGATIVE_INFINITY : nowMs - keptMs + READ_MARGIN_MS;
}

/** The dimensions of roll-ups, by the names of their columns. Totals have all of them; migrations name them, too. */
export const ROLLUP_DIMENSIONS = [
  'source',
  'provider',
  'model',
  'status',
  'api_key_id',
  'prompt_id',
  'prompt_version',
  'path',
] as const;
export type RollupDimension = (typeof ROLLUP_DIMENSIONS)[number];

/**
 * The levels of totals: the dimensions that their rows have. Few levels of few dimensions instead of one of all: at a few
 * requests a minute, that one would have a row a request.
 */
export const LEVELS = {
  source: ['source'],
  model: ['source', 'provider', 'model'],
  status: ['source', 'provider', 'model', 'status'],
  api_key: ['source', 'api_key_id'],
  prompt: ['source', 'prompt_id', 'prompt_version'],
  path: ['source', 'path'],
} as const satisfies Record<string, readonly RollupDimension[]>;
export type Level = keyof typeof LEVELS;

/** The levels that have histograms. */
export const HISTOGRAM_LEVELS = ['source', 'model'] as const satisfies readonly Level[];

/** The levels of scores; of the level `source` they have the dimension source alone. */
export const SCORE_LEVELS = ['source', 'model', 'prompt'] as const satisfies readonly Level[];

/** Returns the dimensions that at least one of these levels has, in the order of `ROLLUP_DIMENSIONS`. */
export function dimensionsOf(levels: readonly Level[]): RollupDimension[] {
  const own = new Set<RollupDimension>(levels.flatMap((level) => LEVELS[level]));
  return ROLLUP_DIMENSIONS.filter((dimension) => own.has(dimension));
}

/** The numbers whose count, sum, least and greatest value totals have, by the names of their columns. */
export const MEASURED = [
  'cost_nano',
  'cost_saved_nano',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'latency_ms',
  'ttft_ms',
  'milli_tokens_per_second',
] as const;

/** The numbers that histograms are kept of. */
export const HISTOGRAM_METRICS = ['latency_ms', 'ttft_ms', 'milli_tokens_per_second'] as const;

/** The numbers whose count and sum are kept by user and property. */
export const VALUE_MEASURED = ['cost_nano', 'prompt_tokens', 'completion_tokens', 'total_tokens'] as const;

/** The values of a property that have a row of their own in a bucket: its commonest. */
export const MAX_PROPERTY_VALUES = 1_000;
/** Characters; a longer value is counted among the others. */
export const MAX_PROPERTY_VALUE_LENGTH = 256;
