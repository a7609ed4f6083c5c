/** Where time comes from: passed in, so that tests advance it. */
export type Clock = {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds on a clock that never goes back, with fractions; only differences mean anything. */
  monotonic(): number;
};

/** The machine's own clocks. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
