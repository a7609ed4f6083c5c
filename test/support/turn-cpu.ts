import { setImmediate as turn } from 'node:timers/promises';
import { leastOf } from './least-of.ts';

/**
 * The CPU time of this thread's longest turn of its event loop while `work` ran, in milliseconds: the least of up to
 * `rounds` rounds, the first that is below `limitMs`. Unlike the delay of the loop, it does not count what the machine gave
 * to others meanwhile. It counts a major collection of V8's, of some 30 ms, which falls into the turns of some rounds.
 */
export function longestTurnMs(
  rounds: number,
  limitMs: number,
  work: (round: number) => Promise<unknown>,
): Promise<number> {
  const measure = async (round: number) => {
    let isOver = false;
    let longest = 0;
    const watch = async () => {
      for (let before = cpuMs(); !isOver; ) {
        await turn();
        const now = cpuMs();
        longest = Math.max(longest, now - before);
        before = now;
      }
    };
    const watched = watch();
    await work(round);
    isOver = true;
    await watched;
    return longest;
  };
  return leastOf(rounds, measure, limitMs);
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
