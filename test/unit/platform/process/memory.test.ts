/** The memory of a process, each time of one of its own. */
import { execFileSync } from 'node:child_process';
import t from 'tap';
import { dropBuffersYoung } from '#platform/process/memory.ts';

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

const MIB = 1024 * 1024;

t.test('bodies that die young are freed without marking the heap for them', async (t) => {
  // A young generation that many calls have made large: objects alone would have it collected each 32 MiB of theirs.
  const flags = ['--trace-gc', '--min-semi-space-size=32', '--max-semi-space-size=32'];
  const marksWith = (drop: string) => {
    const printed = run(
      `
    const { dropBuffersYoung } = await import(${JSON.stringify(MODULE)});
    const drop = ${drop};
    for (let turn = 0; turn < 1_500; turn += 1) {
      // Marking that the start began has ended by then.
      if (turn === 500) console.log('a gigabyte');
      const madeAt = performance.now();
      for (let call = 0; call < 20; call += 1) Buffer.alloc(50 * 1024, 'x');
      drop(madeAt, 20 * 50 * 1024);
      await new Promise((resolve) => setImmediate(resolve));
    }`,
      flags,
    );
    return printed.split('a gigabyte')[1]!.match(/Mark-Compact/g)?.length ?? 0;
  };
  const without = marksWith('() => {}');
  t.ok(without >= 8, `V8 marks the heap ${without} times for a gigabyte of them`);
  // V8 counts buffers as freed once a thread of its own has done so: on a busy machine, perhaps too late.
  let marks = without;
  for (let round = 0; round < 5 && marks > without / 2; round += 1)
    marks = marksWith('dropBuffersYoung(() => performance.now())');
  t.ok(marks <= without / 2, `${marks} times where it is told of them`);
});

t.test('the young generation is collected after each 32 MiB of bodies that it may hold', async (t) => {
  let collections = 0;
  let at = 0;
  const drop = dropBuffersYoung(
    () => at,
    () => {
      collections += 1;
    },
  );
  const after = async (startedAt: number, mebibytes: number) => {
    for (let each = 0; each < mebibytes; each += 1) drop(startedAt, MIB);
    await new Promise((resolve) => setImmediate(resolve));
    return collections;
  };
  at = 100;
  t.equal(await after(50, 31), 0);
  t.equal(await after(50, 1), 1);
  at = 200;
  t.equal(await after(50, 32), 2, 'begun before one collection');
  at = 300;
  t.equal(await after(50, 1_000), 2, 'begun before two: only marking finds what is old');
  t.equal(await after(150, 32), 3);
});
