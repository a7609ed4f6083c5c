/** Backlog of a process's own outbox: entries that are not known to be in Postgres. */
import type { Metrics } from '../../observability/metrics.ts';
import type { Sql } from '../../postgres/mod.ts';
import { AppendTimes, bytesBehind, type Outbox } from '../outbox/mod.ts';
import type { StoredPart } from './feed.ts';

/** Entries of one outbox that are not stored, as far as is known. */
export type Backlog = {
  records: number;
  bytes: number;
  /** Age of the oldest of them; 0 without one. */
  oldestMs: number;
};

export type BacklogMeter = {
  /**
   * Measures the backlog. While the stored part cannot be read, the last known one counts, so that the backlog grows with each
   * entry. Never rejects for that reason.
   */
  measure(): Promise<Backlog>;
  stop(): void;
};

export type BacklogOptions = {
  outbox: Pick<Outbox, 'appended'>;
  /** Directory of the outbox. */
  directory: string;
  /** Returns the stored part of it; null: nothing is known. May reject. */
  readStored(): Promise<StoredPart | null>;
  metrics: Metrics;
};

/** Times are this exact. */
const MARK_EVERY_MS = 1_000;
/** Times of the first entries after a minute without any are less exact: an idle process is not woken every second. */
const IDLE_MARK_EVERY_MS = 10_000;
const IDLE_AFTER_MS = 60_000;

/** Starts keeping the times of entries, a mark a second. */
export function createBacklogMeter({ outbox, directory, readStored, metrics }: BacklogOptions): BacklogMeter {
  const times = new AppendTimes(performance.now());
  let stored: StoredPart = { segment: 0, offset: 0, entries: 0 };
  let last: Backlog = { records: 0, bytes: 0, oldestMs: 0 };
  const stopMarking = keepMarks(times, outbox);
  metrics.readOnDemand(
    'outbox_backlog_records',
    'Entries of the outbox of this process that are not known to be stored, as of the last report',
    () => last.records,
  );
  metrics.readOnDemand('outbox_backlog_bytes', 'Their size in bytes', () => last.bytes);
  metrics.readOnDemand(
    'outbox_backlog_age_seconds',
    'Age of the oldest of them; 0 without one',
    () => last.oldestMs / 1_000,
  );
  return {
    measure: async () => {
      // Read before the stored part: an entry appended in between must not count as waiting.
      const { appended } = outbox;
      stored = (await readStored().catch(() => null)) ?? stored;
      const records = Math.max(0, appended - stored.entries);
      const now = performance.now();
      const oldestMs =
        records === 0 ? 0 : Math.max(0, Math.round(now - times.oldestAfter(stored.entries, appended, now)));
      // Without an entry that waits there may still be marks of calls under way, which are no backlog.
      const bytes = records === 0 ? 0 : await bytesBehind(directory, stored).catch(() => last.bytes);
      last = { records, bytes, oldestMs };
      return last;
    },
    stop: stopMarking,
  };
}

/** Returns the part of an outbox that ingest has stored, where ingest reads the outboxes itself. */
export async function readStoredPart(sql: Sql, outboxId: string): Promise<StoredPart | null> {
  const [row] = await sql<{ segment: string; position: string; entries: string }[]>`
    select segment, position, entries from assay.outbox_cursors where outbox_id = ${outboxId}`;
  if (row === undefined) return null;
  return { segment: Number(row.segment), offset: Number(row.position), entries: Number(row.entries) };
}

/** Notes the number of entries again and again. Returns the function that ends it. */
function keepMarks(times: AppendTimes, outbox: Pick<Outbox, 'appended'>): () => void {
  let seen = outbox.appended;
  let changedAt = performance.now();
  let timer: NodeJS.Timeout;
  const markLater = () => {
    const isIdle = performance.now() - changedAt > IDLE_AFTER_MS;
    timer = setTimeout(mark, isIdle ? IDLE_MARK_EVERY_MS : MARK_EVERY_MS);
    timer.unref();
  };
  const mark = () => {
    const { appended } = outbox;
    const now = performance.now();
    times.note(appended, now);
    if (appended !== seen) changedAt = now;
    seen = appended;
    markLater();
  };
  markLater();
  return () => clearTimeout(timer);
}
