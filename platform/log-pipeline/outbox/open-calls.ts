/** The calls of this process that were begun and have not ended. */
import type { EncodedFrame } from './frame.ts';

/** Identifies a call among those under way in this process: an object of its own, or a text that no other call has. */
export type CallKey = string | object;

type OpenCall = {
  /** The number that the frames of this call share. */
  number: number;
  start: EncodedFrame;
  /** Whether the START is on disk. */
  isKept: boolean;
};

export class OpenCalls {
  #calls = new Map<CallKey, OpenCall>();
  /** Calls closed since the map was made. */
  #closed = 0;
  #lastNumber = 0;

  /** Returns a number that no call has had. */
  nextNumber(): number {
    this.#lastNumber += 1;
    return this.#lastNumber;
  }

  open(key: CallKey, number: number, start: EncodedFrame): OpenCall {
    const call = { number, start, isKept: false };
    this.#calls.set(key, call);
    return call;
  }

  /** Returns the number of an open call, and 0 for a call that is not open. */
  numberOf(key: CallKey): number {
    return this.#calls.get(key)?.number ?? 0;
  }

  /**
   * Closes a call, and copies the map once as many calls were closed as are open. A map whose entries come and go makes
   * itself a new table now and then, and V8 links the old one to it: once a table is in the old generation, all that
   * follow outlive every minor collection, and with them the calls they held. Under load that made the gateway's
   * collections three times as long and took 60 MB. Copying costs a call 0.1 µs.
   */
  close(key: CallKey): void {
    if (!this.#calls.delete(key)) return;
    this.#closed += 1;
    if (this.#closed <= this.#calls.size) return;
    this.#calls = new Map(this.#calls);
    this.#closed = 0;
  }

  /** Returns the STARTs that are on disk and would be needed if this process died now. */
  starts(): EncodedFrame[] {
    return [...this.#calls.values()].filter(({ isKept }) => isKept).map(({ start }) => start);
  }
}
