/** Waits for the work that a target has put off. */
import { setTimeout as sleep } from 'node:timers/promises';
import { treeCpuMicroseconds } from '../gateway/process.ts';

const LOOK_MS = 500;
/** Of a core. An idle Assay takes a twentieth, its log's work a whole one. */
const QUIET_SHARE = 0.15;
const QUIET_WITHIN_MS = 60_000;

/** Waits until a process and all that it started have nothing left to do, for a minute at most. */
export async function waitUntilQuiet(pid: number): Promise<void> {
  const deadline = performance.now() + QUIET_WITHIN_MS;
  for (let share = 1; share > QUIET_SHARE && performance.now() < deadline; ) {
    const before = treeCpuMicroseconds(pid);
    const sinceMs = performance.now();
    await sleep(LOOK_MS);
    share = (treeCpuMicroseconds(pid) - before) / 1_000 / (performance.now() - sinceMs);
  }
}
