/**
 * Work that the gateway does by the clock rather than for calls, mostly each second. It is subtracted from counts, because there
 * is more of it in one that takes longer, as on a busy machine.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Allocated, countAllocations } from './allocations.ts';
import type { Subject } from './subject.ts';
import { countSystemCalls } from './system-calls.ts';

/** Time for which the gateway is watched while it is not called: thrice what it does each second. */
const IDLE_MS = 3_000;

/** Counts of one millisecond. */
export type ByTheClock = {
  allocated: Allocated;
  /** By name; none when they are not counted. */
  systemCalls: ReadonlyMap<string, number>;
};

/** Runs `work` and returns the milliseconds that it took. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Counts what a gateway does that nobody calls. */
export async function countByTheClock(
  { inspector, pid }: Subject,
  countsSystemCalls: boolean,
): Promise<ByTheClock> {
  const idle = () => sleep(IDLE_MS);
  const { heap, external } = await countAllocations(inspector, idle);
  const counted: ReadonlyMap<string, number> = countsSystemCalls
    ? await countSystemCalls(pid, idle)
    : new Map();
  return {
    allocated: { heap: heap / IDLE_MS, external: external / IDLE_MS },
    systemCalls: new Map([...counted].map(([name, calls]) => [name, calls / IDLE_MS])),
  };
}
