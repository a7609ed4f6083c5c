/** The source of time: passed in, so that tests can advance it. */
export type Clock = {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds on a clock that never goes back, with fractions; only differences are meaningful. */
  monotonic(): number;
};

/** The machine's own clocks. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
