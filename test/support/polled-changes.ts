import type { ChangeSignal } from '../../sinks/feed/mod.ts';

/** Changes that nobody announces: followers look every `everyMs`. */
export function polledChanges(everyMs: number): ChangeSignal {
  return { follow: () => {}, longestSleepMs: () => everyMs };
}
