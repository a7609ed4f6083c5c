/**
 * Bytes that a Node process allocates, counted exactly: V8 keeps no sum of them, but between two collections memory in
 * use only grows, and `GCProfiler` notes it before and after each. The sampling heap profiler estimates, and the peak of
 * `process.memoryUsage()` depends on when collections happen; this depends on neither.
 */
import type { Inspector } from './inspector.ts';

/** Memory in use at a moment: bytes. */
type Level = { heap: number; external: number };

/** Bytes allocated on the JavaScript heap, and beside it for ArrayBuffers. */
export type Allocated = Level;

/** Without it, a thread frees ArrayBuffers between collections too, and what is in use does not only grow. */
export async function sweepInCollectionsOnly(inspector: Inspector): Promise<void> {
  await inspector.evaluate(() =>
    process.getBuiltinModule('node:v8').setFlagsFromString('--no-concurrent-array-buffer-sweeping'),
  );
}

type Counting = { profiler: { start(): void; stop(): { statistics: Collection[] } }; from: Level };
type Collection = Record<
  'beforeGC' | 'afterGC',
  { heapStatistics: { usedHeapSize: number; externalMemory: number } }
>;

function startCounting(): void {
  const { GCProfiler, getHeapStatistics } = process.getBuiltinModule('node:v8');
  const profiler = new GCProfiler();
  profiler.start();
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
  Object.assign(globalThis, { assayCounting: { profiler, from: { heap, external } } });
}

/** Returns memory in use at the beginning, before and after each collection, and at the end. */
function stopCounting(): Level[] {
  const { used_heap_size: heap, external_memory: external } = process
    .getBuiltinModule('node:v8')
    .getHeapStatistics();
  const { assayCounting } = globalThis as unknown as { assayCounting: Counting };
  const collections = assayCounting.profiler
    .stop()
    .statistics.flatMap(({ beforeGC, afterGC }) => [beforeGC.heapStatistics, afterGC.heapStatistics]);
  return [
    assayCounting.from,
    ...collections.map(({ usedHeapSize, externalMemory }) => ({
      heap: usedHeapSize,
      external: externalMemory,
    })),
    { heap, external },
  ];
}

/** Sums what memory in use grows by from each even level to the next. */
function growth(levels: readonly Level[], kind: keyof Level): number {
  return levels.reduce((sum, level, index) => sum + (index % 2 === 0 ? -level[kind] : level[kind]), 0);
}

/** Returns what the inspected process allocates while `work` runs. */
export async function countAllocations(inspector: Inspector, work: () => Promise<void>): Promise<Allocated> {
  await inspector.evaluate(startCounting);
  await work();
  const levels = await inspector.evaluate(stopCounting);
  return { heap: growth(levels, 'heap'), external: growth(levels, 'external') };
}
