/**
 * Compresses large bodies in the background, where Postgres takes too long for it while they come in: moves them from
 * `assay.fresh_bodies` to `assay.request_bodies`. docs/decisions/0047-fresh-bodies.md has the reasons and the figures.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import { Backoff } from '#platform/process/backoff.ts';
import { WakeUp } from '#platform/process/wake-up.ts';

/** Records moved at once: with 100 KB each, some 40 ms of pglz. */
const MOVED_AT_ONCE = 16;
/** Rest after a move, as a multiple of its duration: half of a connection's time, and a tenth while entries are waiting. */
const REST = { usual: 1, behind: 9 };
/** Longest sleep: bodies of a process that died, or whose rows were locked, are found then. */
const LONGEST_SLEEP_MS = 10 * 60_000;
const BACKOFF = { firstMs: 1_000, longestMs: 60_000 };

/**
 * Returns whether this server compresses bodies with pglz. With lz4, which takes a tenth of the time, they are compressed at
 * once.
 * @throws errors of Postgres
 */
export async function compressesSlowly(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ method: string }[]>`
    select case attcompression when 'l' then 'lz4' when 'p' then 'pglz'
                else current_setting('default_toast_compression') end as method
      from pg_attribute where attrelid = 'assay.request_bodies'::regclass and attname = 'request_text'`;
  return row!.method === 'pglz';
}

/**
 * Moves up to `most` records' bodies, and returns their number. Records that another process is moving are passed over.
 * @throws errors of Postgres; nothing is moved then
 * @internal Exported so that tests move at a chosen time.
 */
export async function compressBodies(sql: Sql, most = MOVED_AT_ONCE): Promise<number> {
  // One statement: whoever reads sees a record's bodies in the one table or in the other.
  const { count } = await sql`
    with moved as (
      delete from assay.fresh_bodies where ctid = any(array(
        select ctid from assay.fresh_bodies limit ${most} for update skip locked))
      returning organization_id, created_at, request_id, request_text, response_text, request_raw, response_raw
    )
    insert into assay.request_bodies
      (organization_id, created_at, request_id, request_text, response_text, request_raw, response_raw)
    select * from moved`;
  return count;
}

/** Compresses fresh bodies until it is stopped: at its start, and whenever it is told that there are some. */
export class BodyCompressor {
  readonly #sql: Sql;
  readonly #log: Logger;
  readonly #stopping = new AbortController();
  readonly #wakeUp = new WakeUp();
  #isBehind = false;

  constructor({ sql, log }: { sql: Sql; log: Logger }) {
    this.#sql = sql;
    this.#log = log;
  }

  /** Tells that there are fresh bodies. */
  readonly wake = (): void => this.#wakeUp.wake();

  /** Tells whether log entries are waiting to be stored: they come first. */
  readonly setPace = (isBehind: boolean): void => {
    this.#isBehind = isBehind;
  };

  /** Runs until `stop`. Failures are retried. */
  async run(): Promise<void> {
    const { signal } = this.#stopping;
    const backoff = new Backoff(BACKOFF);
    while (!signal.aborted) {
      const beganAt = performance.now();
      let restMs: number;
      try {
        const moved = await compressBodies(this.#sql);
        backoff.reset();
        if (moved === 0) {
          await this.#wakeUp.sleep(LONGEST_SLEEP_MS, { isRef: false });
          continue;
        }
        restMs = (performance.now() - beganAt) * (this.#isBehind ? REST.behind : REST.usual);
      } catch (error) {
        restMs = backoff.next();
        this.#log.warn(
          { error: describeError(error), retryMs: restMs },
          'cannot compress stored bodies; will try again',
        );
      }
      await sleep(restMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Lets `run` end after the move in progress. What is left is moved after the next start. */
  stop(): void {
    this.#stopping.abort();
    this.#wakeUp.wake();
  }
}
