import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { leastOf } from './least-of.ts';

/** The monitor measures from one of its own turns to the next: one must have been, and another must come. */
const TURNS_MS = 20;

/** How long this thread's event loop was held up at most while `work` ran, in milliseconds: the least of several rounds. */
export function loopDelayMs(rounds: number, work: (round: number) => Promise<unknown>): Promise<number> {
  return leastOf(rounds, async (round) => {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    await sleep(TURNS_MS);
    await work(round);
    await sleep(TURNS_MS);
    delay.disable();
    return delay.max / 1e6;
  });
}
