/** Memory given back after a start, in processes of their own. */
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
  const answer = execFileSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program],
    { encoding: 'utf8' },
  );
  return JSON.parse(answer);
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
