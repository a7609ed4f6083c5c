import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { JsonFault } from '#core/json/mod.ts';
import { inTurns, joinBytesInTurns, scanMembersInTurns, sharedInTurns } from '#platform/process/turns.ts';

const MIB = 1024 * 1024;

/** Keeps this thread busy, and returns how many turns of the event loop passed while `work` was under way. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let isOver = false;
  let turns = 0;
  const over = work.then(() => {
    isOver = true;
  });
  for (; !isOver; turns += 1) await turn();
  await over;
  return turns;
}

function spend(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until) {}
}

t.test('two pieces of long work take turns: the one begun later ends before the longer one', async (t) => {
  const ended: string[] = [];
  const work = (name: string, slices: number) => {
    let done = 0;
    return inTurns(() => ++done === slices).then(() => ended.push(name));
  };
  await Promise.all([work('long', 1_000), work('short', 3)]);
  t.same(ended, ['short', 'long']);
});

t.test('work of 20 slices of 2 ms gives the event loop back several times', async (t) => {
  let done = 0;
  const turns = await turnsDuring(
    inTurns(() => {
      spend(2);
      return ++done === 20;
    }),
  );
  t.equal(done, 20);
  t.ok(turns >= 5, `${turns} turns`);
});

t.test('a slice that throws rejects its own work, and other work goes on', async (t) => {
  let done = 0;
  const other = inTurns(() => ++done === 10);
  await t.rejects(
    inTurns(() => {
      throw new Error('broken slice');
    }),
    { message: 'broken slice' },
  );
  await other;
  t.equal(done, 10);
});

t.test('buffers of some megabytes are joined in order, and a single one is not copied', async (t) => {
  const pieces = [1, 2, 3].map((value) => Buffer.alloc(MIB + value, value));
  const withEmpty = [Buffer.alloc(0), ...pieces, Buffer.alloc(0), Buffer.from('end')];
  t.ok((await joinBytesInTurns(withEmpty)).equals(Buffer.concat(withEmpty)));
  t.ok((await joinBytesInTurns([Buffer.from('a'), Buffer.from('b')])).equals(Buffer.from('ab')));
  t.equal(await joinBytesInTurns([pieces[0]!]), pieces[0]);
});

t.test(
  'a shared copy holds the same bytes in memory that threads share, also of an empty buffer',
  async (t) => {
    for (const bytes of [Buffer.alloc(0), Buffer.from('abc'), Buffer.alloc(2 * MIB + 1, 7)]) {
      const shared = await sharedInTurns(bytes);
      t.ok(shared.buffer instanceof SharedArrayBuffer);
      t.ok(bytes.equals(shared));
    }
  },
);

t.test('the members of a long JSON text are found in turns, and a fault of it rejects', async (t) => {
  const options = { names: ['model'], maxDepth: 10 };
  const text = `{"x":[${'0,'.repeat(MIB)}0],"model":"m"}`;
  const span = (await scanMembersInTurns(Buffer.from(text), options)).spans.get('model')!.at(-1)!;
  t.equal(text.slice(span.start, span.end), '"m"');
  await t.rejects(scanMembersInTurns(Buffer.from(text.slice(0, -1)), options), JsonFault);
});
