/**
 * Walks the records of a filter in order of time, a batch at a time, each in a transaction of its own.
 *
 * A statement that looks for the next records of a rare filter would read on until it runs into its time limit. So the walk
 * goes in windows: the next so many records whether they pass or not, found by the primary key alone. The size of a window
 * follows the time that the last one took.
 */
import { isCancelled } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { RequestKey } from '../find-keys.ts';
import type { Read } from '../load.ts';
import type { RequestQuery } from '../query.ts';
import { runStatement } from '../statement.ts';
import {
  type BatchLimits,
  type ExportRow,
  exportRowsStatement,
  type Span,
  windowEndStatement,
} from './statements.ts';

/** More would wait longer for the first and hold more memory; with fewer, the round trips of a transaction show. */
const LIMITS: BatchLimits = { rows: 2_000, bytes: 4 * 1024 * 1024 };

/** Records that are asked for at least: small ones may follow one that fills a batch. */
const FEWEST_ROWS = 10;

const FIRST_WINDOW = 5_000;
/** One record, so that an export stops at no more than one that is too slow to filter. */
const SMALLEST_WINDOW = 1;
/** Finding the end of a larger one takes longer than a batch of records. */
const LARGEST_WINDOW = 100_000;
/** The time of a batch below which windows grow, and above which they shrink. */
const QUICK_MS = 100;
const SLOW_MS = 1_000;
/** Windows shrink no further for slowness alone: a busy Postgres is slow whatever their size. */
const SMALLEST_SLOW_WINDOW = 500;
/** The factor by which a window shrinks after a statement was cancelled for its time. */
const SHRINK_AFTER_CANCEL = 10;

export type WalkOptions = {
  organizationId: string;
  query: RequestQuery;
  bodies: boolean;
  span: Span;
  read: Read;
  clock: Pick<Clock, 'monotonic'>;
};

type Batch = {
  rows: ExportRow[];
  window: Span;
  isLastOfWindow: boolean;
  isLastWindow: boolean;
  /** The records to ask for next. */
  nextRows: number;
  /** The time of its statements, without the wait for a connection. */
  tookMs: number;
};

/** Yields the records of a span that pass a query's filter, the oldest first; an empty batch where a window has none. */
export async function* walkRecords(options: WalkOptions): AsyncGenerator<ExportRow[], void> {
  let { after } = options.span;
  let size = FIRST_WINDOW;
  let { rows } = LIMITS;
  let window: Span | null = null;
  let isLastWindow = false;
  for (;;) {
    let batch: Batch;
    try {
      batch = await readBatch(options, { after, size, rows, window, isLastWindow });
    } catch (error) {
      if (!isCancelled(error) || size <= SMALLEST_WINDOW) throw error;
      size = Math.max(SMALLEST_WINDOW, Math.floor(size / SHRINK_AFTER_CANCEL));
      window = null;
      continue;
    }
    yield batch.rows;
    if (batch.isLastOfWindow && batch.isLastWindow) return;
    size = nextSize(size, batch.tookMs);
    rows = batch.nextRows;
    after = batch.isLastOfWindow ? keyOf(batch.window.until) : batch.rows.at(-1)!;
    window = batch.isLastOfWindow ? null : batch.window;
    isLastWindow = batch.isLastWindow;
  }
}

/** Returns the size of the next window after a batch that took this long. */
function nextSize(size: number, tookMs: number): number {
  if (tookMs < QUICK_MS) return Math.min(LARGEST_WINDOW, size * 2);
  if (tookMs > SLOW_MS && size > SMALLEST_SLOW_WINDOW)
    return Math.max(SMALLEST_SLOW_WINDOW, Math.floor(size / 2));
  return size;
}

/** The place of a walk: behind `after`, inside of `window`, or where a window of `size` records begins; and the records to ask for. */
type Place = {
  after: RequestKey | null;
  size: number;
  rows: number;
  window: Span | null;
  isLastWindow: boolean;
};

function readBatch(options: WalkOptions, place: Place): Promise<Batch> {
  const { organizationId, query, bodies, read, clock } = options;
  return read(async (tx) => {
    const beganAt = clock.monotonic();
    let { window, isLastWindow } = place;
    if (window === null) {
      const rest = { after: place.after, until: options.span.until };
      const statement = windowEndStatement(organizationId, rest, place.size);
      const [end] = await runStatement<RequestKey>(tx, statement);
      window = { after: place.after, until: end ?? rest.until };
      isLastWindow = end === undefined;
    } else {
      window = { ...window, after: place.after };
    }
    const limits = { ...LIMITS, rows: place.rows };
    const statement = exportRowsStatement(organizationId, query, window, { limits, bodies });
    const rows = await runStatement<ExportRow>(tx, statement);
    const isFull = (rows.at(-1)?.bytes_so_far ?? 0) >= LIMITS.bytes;
    const isLastOfWindow = rows.length < limits.rows && !isFull;
    // Postgres filters and measures all that are asked for, and returns what fits: of large records it would do so again and again.
    const nextRows = isFull ? 2 * rows.length : 2 * limits.rows;
    return {
      rows,
      window,
      isLastOfWindow,
      isLastWindow,
      nextRows: Math.min(LIMITS.rows, Math.max(FEWEST_ROWS, nextRows)),
      tookMs: clock.monotonic() - beganAt,
    };
  });
}

function keyOf({ created_at, request_id }: Span['until']): RequestKey {
  return { created_at, request_id: request_id ?? '' };
}
