/**
 * Runs a sink: reads the changes after its cursor, and applies them in the transaction that moves the cursor. Any number of
 * processes may run the same sink; the cursor is locked by one at a time. Reading takes no lock and no transaction number, so
 * that a sink with nothing to do writes nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '#core/contracts/errors.ts';
import { storableText } from '#core/contracts/storable-text.ts';
import type { Logger } from '#platform/observability/log.ts';
import { isStoreUnavailable, type Sql } from '#platform/postgres/mod.ts';
import { Backoff, type BackoffOptions } from '#platform/process/backoff.ts';
import { WakeUp } from '#platform/process/wake-up.ts';
import {
  type BatchSize,
  hasChanges,
  lockCursor,
  lockResumption,
  moveCursor,
  noteFailure,
  noteResumed,
  readChanges,
  readCursor,
  registerSink,
} from './cursor.ts';
import type { FeedMetrics } from './metrics.ts';
import { BatchLate, type ChangeSignal, type RunningSink, type Sink } from './sink.ts';

export type RunSinkOptions = {
  /** Connections of the owner of the tables: the feed has the changes of all organizations. */
  sql: Sql;
  log: Logger;
  feedMetrics: FeedMetrics;
  sink: Sink;
  changes: ChangeSignal;
  /** Called after each batch that was applied. */
  onApplied?(): void;
  /** Overrides the wait after everything is applied. */
  everyMs?: number;
  /** Overrides the waits after failures. */
  retry?: BackoffOptions;
};

/**
 * Wait after everything is applied, so that under load changes are applied many at a time; short enough that charts follow. A sink
 * that finds nothing sleeps until it is woken.
 */
const EVERY_MS = 1_000;
/** Bounds the memory and the length of a transaction. A change of ingest has up to 500 keys. */
const FULL: BatchSize = { changes: 1_000, keys: 10_000 };
/** Waits after failures. The longest one bounds how long a sink stays behind once the cause is gone. */
const RETRY: BackoffOptions = { firstMs: 1_000, longestMs: 60_000 };
/** Shares of a batch that are tried after a failure, which its size may have caused, and after it took too long. */
const AFTER_FAILURE = 0.5;
const AFTER_LATE = 0.1;
/** Characters of an error that are kept. */
const LONGEST_ERROR = 1_000;

/** Runs a sink until it is stopped. A failure delays this sink alone. */
export function runSink(options: RunSinkOptions): RunningSink {
  const stopping = new AbortController();
  const wakeUp = new WakeUp();
  options.changes.follow(() => wakeUp.wake());
  const running = run(options, wakeUp, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      wakeUp.wake();
      await running;
    },
  };
}

async function run(options: RunSinkOptions, wakeUp: WakeUp, signal: AbortSignal): Promise<void> {
  const { sql, sink, everyMs = EVERY_MS, retry = RETRY, changes } = options;
  const backoff = new Backoff(retry);
  let size = FULL;
  let isRegistered = false;
  while (!signal.aborted) {
    let waitMs = everyMs;
    let isIdle = false;
    try {
      if (!isRegistered) await registerSink(sql, sink.name);
      isRegistered = true;
      const result = await applyNext(options, size);
      if (result === 'more') waitMs = 0;
      isIdle = result === 'idle';
      backoff.reset();
      size = scaled(size, 2);
    } catch (error) {
      if (signal.aborted) return;
      waitMs = backoff.next();
      // The database may be another one, or emptied.
      isRegistered = false;
      // Smaller batches may succeed where one takes too long.
      if (!isStoreUnavailable(error))
        size = scaled(size, error instanceof BatchLate ? AFTER_LATE : AFTER_FAILURE);
      await report(options, error, waitMs);
    }
    if (signal.aborted) return;
    if (isIdle) await wakeUp.sleep(changes.longestSleepMs());
    else if (waitMs > 0) await sleep(waitMs, undefined, { signal }).catch(() => {});
  }
}

function scaled({ changes, keys }: BatchSize, factor: number): BatchSize {
  return {
    changes: Math.min(Math.ceil(changes * factor), FULL.changes),
    keys: Math.min(Math.ceil(keys * factor), FULL.keys),
  };
}

/**
 * `done`: there was less than a batch. `held`: there are changes, but an open transaction may still make earlier ones. `taken`:
 * another process is running this sink. `idle`: there are no changes.
 */
type Result = 'more' | 'done' | 'held' | 'taken' | 'idle';

/**
 * Applies the next batch, or resumes a sink that has no cursor in the feed by a scan.
 * @internal Exported so that tests apply one batch at a time.
 */
export async function applyNext(
  { sql, log, feedMetrics, sink, onApplied }: Omit<RunSinkOptions, 'changes'>,
  size: BatchSize,
): Promise<Result> {
  const { state, position } = await readCursor(sql, sink.name);
  if (position === null) return await resume({ sql, log, feedMetrics, sink, onApplied }, state);
  const changes = await readChanges(sql, position, size);
  if (changes.length === 0) return (await hasChanges(sql, position)) ? 'held' : 'idle';
  const isApplied = await sql.begin(async (tx) => {
    if (!(await lockCursor(tx, sink.name, position))) return false;
    await sink.apply(tx, changes);
    await moveCursor(tx, sink.name, changes);
    return true;
  });
  if (!isApplied) return 'taken';
  feedMetrics.applied.inc({ sink: sink.name }, changes.length);
  const keys = changes.reduce((sum, change) => sum + change.keys.length, 0);
  onApplied?.();
  return changes.length >= size.changes || keys >= size.keys ? 'more' : 'done';
}

async function resume(
  { sql, log, feedMetrics, sink, onApplied }: Omit<RunSinkOptions, 'changes'>,
  state: string,
): Promise<Result> {
  const resumption = await sql.begin(async (tx) => {
    const found = await lockResumption(tx, sink.name);
    if (found === null) return null;
    await sink.resume(tx, found.sinceMs);
    await noteResumed(tx, sink.name, found.position);
    return found;
  });
  if (resumption === null) return 'taken';
  feedMetrics.resumes.inc({ sink: sink.name });
  const facts = {
    sink: sink.name,
    since: resumption.sinceMs === null ? null : new Date(resumption.sinceMs).toISOString(),
  };
  if (state === 'new') log.info(facts, 'a sink begins to follow the changes');
  else
    log.warn(facts, 'a sink was so far behind that the feed had dropped its changes: it came up by a scan');
  onApplied?.();
  return 'more';
}

async function report(
  { sql, log, feedMetrics, sink }: RunSinkOptions,
  error: unknown,
  retryMs: number,
): Promise<void> {
  const text = storableText(describeError(error)).slice(0, LONGEST_ERROR);
  if (isStoreUnavailable(error)) {
    log.warn({ sink: sink.name, error: text, retryMs }, 'a sink cannot reach Postgres; it will try again');
    return;
  }
  if (error instanceof BatchLate) {
    log.warn({ sink: sink.name, error: text, retryMs }, 'a batch of a sink took too long; it will try again');
    return;
  }
  feedMetrics.failures.inc({ sink: sink.name });
  log.error({ sink: sink.name, error: text, retryMs }, 'a sink failed to apply changes; it will try again');
  await noteFailure(sql, sink.name, text).catch(() => {});
}
