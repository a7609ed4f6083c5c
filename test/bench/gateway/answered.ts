/** What the load generator and whoever waits for the effects of its calls tell one another. */

/** A call of a job's sample, told of as it is answered. */
export type Answered = {
  /** Counted from 1, in the order in which calls are begun. */
  number: number;
  requestId: string;
  /** When the last byte had arrived, on `sharedClockMs`. */
  atMs: number;
};

/** The number of the last call whose effect was seen. */
export type Seen = { seen: number };

/** A clock that all processes of a machine share: milliseconds. */
export function sharedClockMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
