import { setImmediate as turn } from 'node:timers/promises';
import { leastOf } from './least-of.ts';

/**
 * The CPU time of this thread's longest turn of its event loop while `work` ran, in milliseconds: the least of several
 * rounds. Unlike the delay of the loop, it does not count what the machine gave to others meanwhile.
 */
export function longestTurnMs(rounds: number, work: (round: number) => Promise<unknown>): Promise<number> {
  return leastOf(rounds, async (round) => {
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
  });
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
