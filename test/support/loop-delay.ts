import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** The monitor measures from one of its own turns to the next: one must have been, and another must come. */
const TURNS_MS = 20;

/**
 * How long this thread's event loop was held up at most while `work` ran, in milliseconds: the least of several rounds, as
 * in any one of them a busy machine may have held up all of the process.
 */
export async function loopDelayMs(
  rounds: number,
  work: (round: number) => Promise<unknown>,
): Promise<number> {
  const longest: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    await sleep(TURNS_MS);
    await work(round);
    await sleep(TURNS_MS);
    delay.disable();
    longest.push(delay.max / 1e6);
  }
  return Math.min(...longest);
}
