import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { type Outbox, readInterrupted, readOutbox, trimOutbox } from '#platform/log-pipeline/outbox/mod.ts';
import {
  ALL,
  BEGINNING,
  interruptedHeads,
  openIn,
  rawEntry,
  readAll,
  temporaryRoot,
} from '../../../../support/outbox.ts';

/** The head tells a START from the entry that finishes the same call. */
const startOf = (name: string, requestBody?: string) => rawEntry(`START ${name}`, requestBody, '');

t.test('exactly the calls with a START and without an entry are interrupted', async (t) => {
  const { outbox, directory } = await openIn(temporaryRoot(t));
  for (const name of ['a', 'b', 'c']) t.equal(await outbox.begin(name, startOf(name)), true);
  t.equal(await outbox.append('b', rawEntry('b')), true);
  t.equal(await outbox.append('never begun', rawEntry('d')), true);
  t.same(await interruptedHeads(directory), ['START a', 'START c']);
  await outbox.append('a', rawEntry('a'));
  await outbox.append('c', rawEntry('c'));
  t.same(await interruptedHeads(directory), []);
  await outbox.close();
});

t.test('calls with equal STARTs are told apart', async (t) => {
  const { outbox, directory } = await openIn(temporaryRoot(t));
  const calls = [{}, {}, {}];
  for (const call of calls) await outbox.begin(call, startOf('same'));
  await outbox.append(calls[1]!, rawEntry('same'));
  t.same(await interruptedHeads(directory), ['START same', 'START same']);
  await outbox.close();
});

t.test('readers skip STARTs, and the position moves past them', async (t) => {
  const { outbox, directory } = await openIn(temporaryRoot(t));
  await outbox.begin('a', startOf('a'));
  const first = await readOutbox(directory, BEGINNING, ALL);
  t.same([first.entries, first.damage], [[], null]);
  t.same(await readOutbox(directory, first.next, ALL), {
    entries: [],
    next: first.next,
    damage: null,
    hasMore: false,
  });
  await outbox.append('a', rawEntry('a'));
  const second = await readOutbox(directory, first.next, ALL);
  t.same(
    second.entries.map(({ head }) => Buffer.from(head).toString()),
    ['a'],
  );
  await outbox.close();
});

t.test('the limit on bytes bounds how many STARTs one reading passes over', async (t) => {
  const { outbox, directory } = await openIn(temporaryRoot(t));
  for (let call = 0; call < 50; call += 1) await outbox.begin({}, startOf('x', 'y'.repeat(1_000)));
  const { entries, next } = await readOutbox(directory, BEGINNING, { maxEntries: 10, maxBytes: 5_000 });
  t.same(entries, []);
  t.ok(next.offset > 0 && next.offset <= 5_000, `read up to ${next.offset}`);
  await outbox.close();
});

t.test('a call that is open across segments is interrupted once, with its body', async (t) => {
  const { outbox, directory } = await openIn(temporaryRoot(t), { segmentBytes: 2_000 });
  const body = 'z'.repeat(5_000);
  await outbox.begin('long', startOf('long', body));
  let position = BEGINNING;
  let trims = 0;
  for (let index = 0; index < 50; index += 1) {
    await outbox.begin(`s${index}`, startOf(`s${index}`));
    await outbox.append(`s${index}`, rawEntry(`e${index}`, 'x'.repeat(900)));
    const before = position.segment;
    position = (await readAll(directory, ALL, position)).position;
    await trimOutbox(directory, position);
    if (position.segment > before) trims += 1;
  }
  t.ok(trims > 5, `${trims} trims`);
  t.same(await interruptedHeads(directory), ['START long']);
  await outbox.append('long', rawEntry('long'));
  t.same((await readAll(directory, ALL, position)).heads, ['long']);
  t.same(await interruptedHeads(directory), []);
  await outbox.close();
});

t.test('repeated STARTs take a bounded share of the outbox, however many calls are open', async (t) => {
  const { outbox, directory } = await openIn(temporaryRoot(t), { segmentBytes: 1_000 });
  for (let call = 0; call < 100; call += 1) await outbox.begin({}, startOf('open', 'y'.repeat(1_000)));
  const sizeOf = () =>
    readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
  const before = sizeOf();
  let appended = 0;
  for (let index = 0; index < 300; index += 1) {
    const entry = rawEntry('e', 'x'.repeat(1_000));
    appended += entry.head.length + entry.requestBody.length + entry.responseBody.length;
    await outbox.append({}, entry);
  }
  const written = sizeOf() - before;
  t.ok(written < 2.5 * appended, `${written} bytes written for ${appended}`);
  await outbox.close();
});

t.test('a new segment becomes visible only with the STARTs it repeats', async (t) => {
  const { outbox, directory } = await openIn(temporaryRoot(t), { segmentBytes: 4_100_000 });
  const calls = Array.from({ length: 40 }, () => ({}));
  // 4 MB, which is written in a thread while the loop below looks.
  for (const call of calls) await outbox.begin(call, startOf('open', 'y'.repeat(100_000)));
  await outbox.append({}, rawEntry('filler', 'x'.repeat(200_000)));
  const second = join(directory, '0000000002.log');
  t.notOk(existsSync(second));
  const writing = outbox.append(calls[0]!, rawEntry('finished'));
  while (!existsSync(second)) await turn();
  t.ok(statSync(second).size > 4_000_000, 'that of the call too which is about to be finished');
  await writing;
  await outbox.close();
});

t.test(
  'STARTs are refused above half of the bound and not counted; entries are taken up to the bound',
  async (t) => {
    const { outbox } = await openIn(temporaryRoot(t), { maxBytes: 20_000 });
    const body = 'x'.repeat(900);
    let begun = 0;
    while (await outbox.begin({}, startOf('s', body))) begun += 1;
    t.ok(begun >= 9 && begun <= 10, `${begun} STARTs`);
    let appended = 0;
    while (await outbox.append({}, rawEntry('e', body))) appended += 1;
    t.ok(appended >= 9 && appended <= 11, `${appended} entries`);
    t.equal(outbox.refused, 1);
    await outbox.close();
  },
);

t.test('a call whose entry is refused is counted once and does not come up as interrupted', async (t) => {
  const { outbox, directory } = await openIn(temporaryRoot(t), { maxBytes: 10_000 });
  await outbox.begin('a', startOf('a'));
  await outbox.begin('b', startOf('b'));
  t.equal(await outbox.append('a', rawEntry('a', 'x'.repeat(20_000))), false);
  t.equal(outbox.refused, 1);
  await outbox.close();
  t.same(await interruptedHeads(directory), ['START b']);
  t.same((await readAll(directory)).heads, []);
});

/** A directory where the next segment would be made: the next writes that need one fail, until `remove`. */
function blockNextSegment(directory: string, segment: number) {
  const path = join(directory, `.new-${String(segment).padStart(10, '0')}.log`);
  mkdirSync(path);
  return { remove: () => rmdirSync(path) };
}

t.test('STARTs of refused calls are withdrawn once a failing disk accepts bytes again', async (t) => {
  const { outbox, directory } = await openIn(temporaryRoot(t), { segmentBytes: 1 });
  await outbox.begin('failed', startOf('failed'));
  const block = blockNextSegment(directory, 2);
  t.equal(await outbox.begin('not begun', startOf('not begun')), false);
  t.equal(await outbox.append('failed', rawEntry('failed')), false);
  t.equal(await outbox.append('not begun', rawEntry('not begun')), false);
  t.equal(outbox.refused, 2, 'entries are counted, STARTs are not');
  t.same(await interruptedHeads(directory), ['START failed'], 'as long as nothing can be written');
  block.remove();
  t.equal(await outbox.append({}, rawEntry('after')), true);
  await outbox.close();
  t.same(await interruptedHeads(directory), []);
  t.same((await readAll(directory)).heads, ['after']);
});

t.test('a call that is open when the disk fails is repeated in the segment that follows', async (t) => {
  const { outbox, directory } = await openIn(temporaryRoot(t), { segmentBytes: 1 });
  await outbox.begin('open', startOf('open'));
  const block = blockNextSegment(directory, 2);
  await outbox.append({}, rawEntry('refused'));
  block.remove();
  await outbox.append({}, rawEntry('after'));
  const { position } = await readAll(directory);
  t.equal(position.segment, 2);
  await trimOutbox(directory, position);
  t.same(await interruptedHeads(directory), ['START open']);
  await outbox.close();
});

t.test('damage hides no STARTs before it or in other segments', async (t) => {
  const { outbox, directory } = await openIn(temporaryRoot(t));
  await outbox.begin('a', startOf('a'));
  await outbox.begin('b', startOf('b'));
  await outbox.append('a', rawEntry('a'));
  await outbox.close();
  appendFileSync(join(directory, '0000000001.log'), Buffer.alloc(64, 0xff));
  t.same(await interruptedHeads(directory), ['START b']);
});

const COMMANDS = {
  node: [process.execPath, '--disable-warning=ExperimentalWarning', '--input-type=module', '-e'],
  deno: [join(import.meta.dirname, '../../../../../node_modules/.bin/deno'), 'eval'],
} as const;

for (const [runtime, [command, ...parameters]] of Object.entries(COMMANDS)) {
  t.test(`under ${runtime}, exactly the calls under way are interrupted after kill -9`, async (t) => {
    const root = temporaryRoot(t);
    // The first bodies are written in place, the large one in a thread.
    const program = `
      import { openOutbox } from '#platform/log-pipeline/outbox/mod.ts';
      import { createLogger } from '#platform/observability/log.ts';
      const outbox = await openOutbox({ root: ${JSON.stringify(root)}, id: 'A', maxBytes: 1e9, sync: 'process', log: createLogger({ role: 't', level: 'silent' }) });
      const entry = (head, body = 'asked') => ({ head: Buffer.from(head), requestBody: Buffer.from(body), responseBody: Buffer.alloc(0) });
      const names = Array.from({ length: 20 }, (_, index) => 'c' + index);
      await Promise.all(names.map((name) => outbox.begin(name, entry(name))));
      await Promise.all(names.slice(0, 10).map((name) => outbox.append(name, entry(name))));
      await outbox.append('large', entry('large', 'x'.repeat(1_000_000)));
      process.stdout.write('ready');
      setInterval(() => {}, 1000);`;
    const child = spawn(command, [...parameters, program], {
      cwd: join(import.meta.dirname, '../../../../..'),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    await new Promise((resolve) => child.stdout!.once('data', resolve));
    child.kill('SIGKILL');
    await ended;
    const names = Array.from({ length: 20 }, (_, index) => `c${index}`);
    t.same((await readAll(join(root, 'A'))).heads, [...names.slice(0, 10), 'large']);
    const interrupted = await readInterrupted(join(root, 'A'));
    t.same(
      interrupted.map(({ head, requestBody }) => `${Buffer.from(head)}, ${Buffer.from(requestBody)}`),
      names.slice(10).map((name) => `${name}, asked`),
    );
  });
}

/** Calls by their number; what happens in one turn is not waited for in between. */
type Turn = {
  begin: number;
  /** Indexes among the calls that are open at the time. */
  finish: number[];
  /** Calls that are finished without having been begun. */
  log: number;
  /** Number of reads and trims afterwards. */
  read: number;
};

/** A model of the outbox, in memory. */
class Model {
  readonly open = new Map<number, string>();
  readonly finished: string[] = [];
  #count = 0;

  async play(outbox: Outbox, { begin, finish, log }: Turn): Promise<void> {
    const work: Promise<boolean>[] = [];
    const before = [...this.open.keys()];
    for (const place of new Set(finish.map((at) => at % Math.max(1, before.length)))) {
      const call = before[place];
      if (call !== undefined) work.push(this.#finish(outbox, call));
    }
    for (let count = 0; count < begin; count += 1) {
      this.#count += 1;
      this.open.set(this.#count, `START ${this.#count}`);
      work.push(
        outbox.begin(String(this.#count), startOf(String(this.#count), 'x'.repeat(this.#count % 700))),
      );
    }
    for (let count = 0; count < log; count += 1) {
      this.#count += 1;
      work.push(this.#finish(outbox, this.#count));
    }
    const kept = await Promise.all(work);
    if (!kept.every(Boolean)) throw new Error('The outbox refused something');
  }

  #finish(outbox: Outbox, call: number): Promise<boolean> {
    this.open.delete(call);
    this.finished.push(`${call}`);
    return outbox.append(String(call), rawEntry(`${call}`, 'y'.repeat(call % 500)));
  }
}

t.test('each call is reported once, for any order of starts, ends, rotations, reads and trims', async (t) => {
  const root = temporaryRoot(t);
  const turns = fc.array(
    fc.record({
      begin: fc.nat(4),
      finish: fc.array(fc.nat(50), { maxLength: 4 }),
      log: fc.nat(2),
      read: fc.nat(5),
    }),
    { maxLength: 30 },
  );
  const limits = fc.record({
    maxEntries: fc.integer({ min: 1, max: 10 }),
    maxBytes: fc.integer({ min: 1, max: 4_000 }),
  });
  await fc.assert(
    fc.asyncProperty(
      turns,
      limits,
      fc.integer({ min: 1, max: 3_000 }),
      async (turns, limits, segmentBytes) => {
        const { outbox, directory } = await openIn(root, { segmentBytes });
        const model = new Model();
        const told: string[] = [];
        let position = BEGINNING;
        for (const turn of turns) {
          await model.play(outbox, turn);
          for (let reading = 0; reading < turn.read; reading += 1) {
            const { entries, next } = await readOutbox(directory, position, limits);
            told.push(...entries.map(({ head }) => Buffer.from(head).toString()));
            position = next;
            await trimOutbox(directory, position);
          }
          t.same((await interruptedHeads(directory)).sort(), [...model.open.values()].sort());
        }
        const rest = await readAll(directory, limits, position);
        t.same([...told, ...rest.heads], model.finished);
        await outbox.close();
      },
    ),
    { numRuns: 60 },
  );
});
