/**
 * Outboxes whose files fail, as with a bad sector, or a wrong owner after a restore. One of them must not keep the others of its
 * machine from being read: it is left alone for a pause that grows, and tried again, for ever.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '../../observability/log.ts';
import { Backoff } from '../../process/backoff.ts';

/** Name and help of the metric that counts them, of the process that reads outboxes: a gateway or an API with NATS, else ingest. */
export const FAILING_OUTBOXES = [
  'outboxes_failing',
  'Outboxes of this machine whose files could not be read, trimmed or removed when that was last tried',
] as const;

/** The files of one outbox failed. */
export class OutboxError extends Error {}

/** Codes of errors that are not an outbox's own: the process or the machine has run out of something. */
const OF_THE_PROCESS: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOMEM']);

/**
 * Runs what only works on the files of one outbox.
 * @throws OutboxError for all its errors but those that concern every outbox
 */
export async function onFiles<Result>(work: () => Promise<Result> | Result): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (OF_THE_PROCESS.has((error as { code?: unknown }).code)) throw error;
    throw new OutboxError(describeError(error), { cause: error });
  }
}

/**
 * Doubles after each failure, so that an outbox is read again, after a fault that passes, within twice the time that the fault
 * took. At its longest it is short for an operator who repaired something, and long for a disk that takes seconds to give up on a
 * sector: nothing else is read meanwhile. Each failure is one line of the log.
 */
const PAUSE = { firstMs: 1_000, longestMs: 300_000 };

export type FailingOutboxesOptions = {
  /** The directory of the outboxes. */
  root: string;
  log: Logger;
  /** The monotonic clock, in milliseconds. */
  monotonic(): number;
};

/** The work that failed last time, by outbox. */
export class FailingOutboxes {
  readonly #options: FailingOutboxesOptions;
  readonly #failures = new Map<string, Map<string, { backoff: Backoff; pausedUntil: number }>>();

  constructor(options: FailingOutboxesOptions) {
    this.#options = options;
  }

  /** Outboxes of which something failed when it was last tried. */
  get count(): number {
    return this.#failures.size;
  }

  has(outboxId: string): boolean {
    return this.#failures.has(outboxId);
  }

  /**
   * Does some work on an outbox, unless the same work failed a short time ago. Returns its result; null when it was left out, when
   * it fails now, which is logged, and when the outbox has been removed meanwhile.
   * @param what the work, as in "cannot read an outbox"
   * @throws errors of `work` other than OutboxError
   */
  async attempt<Result>(
    what: string,
    outboxId: string,
    work: () => Promise<Result> | Result,
  ): Promise<Result | null> {
    const failure = this.#failures.get(outboxId)?.get(what);
    if (failure !== undefined && this.#options.monotonic() < failure.pausedUntil) return null;
    try {
      const result = await work();
      if (failure !== undefined) this.#forget(what, outboxId);
      return result;
    } catch (error) {
      if (!(error instanceof OutboxError)) throw error;
      if (existsSync(join(this.#options.root, outboxId))) this.#note(what, outboxId, error);
      return null;
    }
  }

  /** Forgets the outboxes that are not listed: they were removed. */
  keepOnly(listed: readonly string[]): void {
    for (const outboxId of this.#failures.keys())
      if (!listed.includes(outboxId)) this.#failures.delete(outboxId);
  }

  #note(what: string, outboxId: string, error: OutboxError): void {
    const failures = this.#failures.get(outboxId) ?? new Map();
    this.#failures.set(outboxId, failures);
    const backoff: Backoff = failures.get(what)?.backoff ?? new Backoff(PAUSE);
    const retryMs = backoff.next();
    failures.set(what, { backoff, pausedUntil: this.#options.monotonic() + retryMs });
    this.#options.log.error(
      { outboxId, error: describeError(error), retryMs },
      `cannot ${what} an outbox; will try again, and the others do not wait for it`,
    );
  }

  #forget(what: string, outboxId: string): void {
    const failures = this.#failures.get(outboxId);
    failures?.delete(what);
    if (failures?.size === 0) this.#failures.delete(outboxId);
    this.#options.log.info({ outboxId }, `can ${what} an outbox again`);
  }
}
