/** The memory of a process, each time of one of its own. */
import { execFileSync } from 'node:child_process';
import t from 'tap';

const MODULE = new URL('../../../../platform/process/memory.ts', import.meta.url).href;
const LOOK_MS = 100;

/** Fills the heap as a start does, runs `meanwhile`, and returns the size of the heap before and after, in bytes. */
function heapSizes(meanwhile: string): { before: number; after: number } {
  const program = `
    const { giveBackWhenIdle } = await import(${JSON.stringify(MODULE)});
    let kept = Array.from({ length: 1_000_000 }, (_, at) => ({ at, text: 'a' + at }));
    kept = kept.slice(0, 10);
    const before = process.memoryUsage().heapTotal;
    giveBackWhenIdle({ firstLookMs: ${LOOK_MS} });
    ${meanwhile}
    const after = process.memoryUsage().heapTotal;
    console.log(JSON.stringify({ before, after }));`;
  return JSON.parse(run(program));
}

/** Runs a program, and returns what it prints. */
function run(program: string, flags: readonly string[] = []): string {
  const common = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program];
  return execFileSync(process.execPath, [...flags, ...common], { encoding: 'utf8' });
}

t.test('an idle process gives back the memory that its start needed', async (t) => {
  const { before, after } = heapSizes(`
    for (let round = 0; round < 200 && process.memoryUsage().heapTotal > before / 2; round += 1)
      await new Promise((resolve) => setTimeout(resolve, ${LOOK_MS / 2}));`);
  t.ok(after < before / 2, `${before} bytes before, ${after} after`);
});

t.test('a process that is at work is not held up for it', async (t) => {
  const { before, after } = heapSizes(`
    const until = performance.now() + ${5 * LOOK_MS};
    while (performance.now() < until) {
      const pause = performance.now() + 10;
      while (performance.now() < pause);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }`);
  t.ok(after > before / 2, `${before} bytes before, ${after} after`);
});

t.test(
  'a gateway collects its heap when it is four times as large as before, after quiet seconds too',
  async (t) => {
    const printed = run(
      `
    const { collectSeldom } = await import(${JSON.stringify(MODULE)});
    collectSeldom();
    globalThis.kept = Array.from({ length: 100_000 }, (_, at) => ({ at, text: 'a' + at }));
    for (let pause = 0; pause < 6; pause += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      gc({ type: 'major', execution: 'sync' });
    }`,
      ['--expose-gc', '--trace-gc-verbose'],
    );
    const bounds = [...printed.matchAll(/HeapController\] Limit: old size: (\d+) KB, new limit: (\d+) KB/g)];
    t.ok(bounds.length >= 6, `${bounds.length} collections told their bounds`);
    for (const [line, size, bound] of bounds) t.ok(Number(bound) >= 4 * Number(size), line);
  },
);
