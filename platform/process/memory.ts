/** The memory of this process: how much it may have, what a start needed once is given back, and which garbage may wait. */
import { totalmem } from 'node:os';
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Returns the bytes that this process may have: those of the machine, or of its container. */
export function availableMemory(): number {
  // 0, or more than there is: no container bounds it.
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}

/** After a start, and again while the process was busy. */
const FIRST_LOOK_MS = 5_000;
/** Between two looks the wait doubles, up to this. */
const LONGEST_WAIT_MS = 10 * 60_000;
/** A process that worked less than this share of the time since the last look is idle. */
const IDLE_SHARE = 0.05;

type Collect = (
  options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' } | { type: 'minor'; execution: 'sync' },
) => void;

/** Returns V8's collector, which scripts see only in contexts that are made under its flag. */
function collector(): Collect {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return collect;
}

/**
 * Gives memory back once this process is idle: loading code leaves a heap two to three times as large as what it holds, and
 * V8 does not shrink the heap of a process that allocates little. The collection takes 0.1 to 0.3 s, in which nothing else
 * runs; so it waits until the process has had nothing to do.
 */
export function giveBackWhenIdle({ firstLookMs = FIRST_LOOK_MS }: { firstLookMs?: number } = {}): void {
  // Deno has no such collector.
  if ('Deno' in globalThis) return;
  const look = (waitMs: number, before: ReturnType<typeof performance.eventLoopUtilization>) => {
    setTimeout(() => {
      const { utilization } = performance.eventLoopUtilization(before);
      if (utilization > IDLE_SHARE)
        look(Math.min(2 * waitMs, LONGEST_WAIT_MS), performance.eventLoopUtilization());
      else collector()({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    }, waitMs).unref();
  };
  look(firstLookMs, performance.eventLoopUtilization());
}

/** The heap may hold three times as much garbage as what is in use: V8's own bound while a process allocates much. */
const GARBAGE_PERCENT = 300;

/**
 * Makes V8 wait with collections of the whole heap until it is four times as large as what the last one left. By itself V8 waits as
 * long in a process that allocates much, but after quiet seconds for 1.4 times the size only. Buffers count towards that: a heap of
 * 20 MB is then marked again each 8 MB of bodies (decision 0049).
 */
export function collectSeldom(): void {
  setFlagsFromString(`--heap-growing-percent=${GARBAGE_PERCENT}`);
}

/** Half of what makes V8 mark the whole heap. */
const YOUNG_BUFFERS_BYTES = 32 * 1024 * 1024;

/** Tells of buffers that are garbage from now on: their bytes, and when the first of them was made, in milliseconds. */
export type DropBuffers = (madeAtMs: number, bytes: number) => void;

/**
 * Makes V8 free buffers while they are young. It marks the whole heap after each 64 MiB of buffers, which holds everything up for
 * 20 to 30 ms on a busy core. A collection of the young generation, of 1 ms, frees those that died in it, but comes only when
 * objects fill that generation: once many calls at a time have made it large, each 64 MiB of bodies was marked (decision 0049).
 * @param now the clock of `madeAtMs`
 * @param collectYoung collects the young generation; tests count it
 */
export function dropBuffersYoung(
  now: () => number,
  collectYoung: () => void = youngCollector(),
): DropBuffers {
  let bytes = 0;
  let collectedAt = Number.NEGATIVE_INFINITY;
  let collectedBeforeAt = Number.NEGATIVE_INFINITY;
  return (madeAtMs, dropped) => {
    // Buffers that have outlived two collections are in the old generation, where only marking finds them.
    if (madeAtMs < collectedBeforeAt) return;
    bytes += dropped;
    if (bytes < YOUNG_BUFFERS_BYTES) return;
    bytes = 0;
    collectedBeforeAt = collectedAt;
    collectedAt = now();
    // After this turn of the event loop, in which responses are under way.
    setImmediate(collectYoung);
  };
}

function youngCollector(): () => void {
  // Deno has no such collector.
  if ('Deno' in globalThis) return () => {};
  const collect = collector();
  return () => collect({ type: 'minor', execution: 'sync' });
}
