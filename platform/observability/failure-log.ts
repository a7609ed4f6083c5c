import type { Logger } from './log.ts';

/** Least time between two lines about one failure. Longer, and a log that is cut into parts has some without it. */
const EVERY_MS = 10_000;
/** Failures that are remembered. More are forgotten together, and logged once more. */
const MAX_KINDS = 100;

type Kind = { loggedAt: number; leftOut: number };

/**
 * Logs failures of what is tried again, so that an outage fills no log: one is logged at once, and while it goes on at most every
 * ten seconds, then with how many like it were left out. Those of another message or error are others.
 */
export class FailureLog {
  readonly #log: Logger;
  readonly #monotonic: () => number;
  readonly #kinds = new Map<string, Kind>();

  /** @param monotonic a clock in milliseconds */
  constructor(log: Logger, monotonic: () => number = () => performance.now()) {
    this.#log = log;
    this.#monotonic = monotonic;
  }

  note(level: 'warn' | 'error', fields: { error: string }, message: string): void {
    const name = `${message}\n${fields.error}`;
    const now = this.#monotonic();
    const known = this.#kinds.get(name);
    if (known !== undefined && now - known.loggedAt < EVERY_MS) {
      known.leftOut += 1;
      return;
    }
    if (this.#kinds.size >= MAX_KINDS) this.#kinds.clear();
    this.#kinds.set(name, { loggedAt: now, leftOut: 0 });
    const leftOut = known?.leftOut ?? 0;
    this.#log[level]({ ...fields, ...(leftOut > 0 && { leftOut }) }, message);
  }
}
