import { type ChildProcessByStdio, spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import {
  listOutboxes,
  readOutbox,
  removeOutbox,
  takeAbandonedOutbox,
  trimOutbox,
} from '#platform/log-pipeline/outbox/mod.ts';
import { scanSegment } from '#platform/log-pipeline/outbox/scan.ts';
import {
  ALL,
  BEGINNING,
  interruptedHeads,
  openIn,
  rawEntry,
  readAll,
  temporaryRoot,
} from '../../../../support/outbox.ts';

/** Runs the text of a module in a process of its own. */
function runProgram(program: string): ChildProcessByStdio<null, Readable, null> {
  return spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program],
    { cwd: join(import.meta.dirname, '../../../../..'), stdio: ['ignore', 'pipe', 'inherit'] },
  );
}

for (const sync of ['process', 'disk'] as const) {
  t.test(`entries are read back unchanged and in order (sync ${sync})`, async (t) => {
    const { outbox, directory } = await openIn(temporaryRoot(t), { sync });
    const kept = await Promise.all(
      Array.from({ length: 500 }, (_, index) => outbox.append({}, rawEntry(`e${index}`))),
    );
    t.ok(kept.every(Boolean));
    const { heads } = await readAll(directory);
    t.same(
      heads,
      Array.from({ length: 500 }, (_, index) => `e${index}`),
    );
    await outbox.close();
  });
}

t.test('a segment with entries is closed when it is old, and an empty one is kept', async (t) => {
  const { outbox, directory } = await openIn(temporaryRoot(t), { segmentAgeMs: 500 });
  t.equal(await outbox.append({}, rawEntry('first')), true);
  await sleep(3_500);
  t.same(
    readdirSync(directory).filter((name) => name.endsWith('.log')),
    ['0000000001.log', '0000000002.log'],
  );
  const { heads, position } = await readAll(directory);
  t.same(heads, ['first']);
  t.equal(position.segment, 2);
  await trimOutbox(directory, position);
  t.equal(await outbox.append({}, rawEntry('second')), true);
  t.same((await readAll(directory, ALL, position)).heads, ['second']);
  await outbox.close();
});

t.test('entries that are appended while an old segment is closed are kept', async (t) => {
  const { outbox, directory } = await openIn(temporaryRoot(t), { segmentAgeMs: 0, sync: 'disk' });
  const call = {};
  await outbox.begin(call, rawEntry('open'));
  const until = performance.now() + 2_500;
  let count = 0;
  while (performance.now() < until) {
    t.equal(await outbox.append({}, rawEntry(`e${count}`)), true);
    count += 1;
  }
  const { heads, position } = await readAll(directory);
  t.same(
    heads,
    Array.from({ length: count }, (_, index) => `e${index}`),
  );
  t.ok(position.segment > 1);
  await trimOutbox(directory, position);
  t.same(await interruptedHeads(directory), ['open'], 'a call that is open is known from the new segment');
  await outbox.close();
});

t.test('every entry is read once, for any sizes, segments and reading limits', async (t) => {
  const root = temporaryRoot(t);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(3_000), fc.nat(3_000)), { maxLength: 40 }),
      fc.integer({ min: 1, max: 8_000 }),
      fc.record({
        maxEntries: fc.integer({ min: 1, max: 10 }),
        maxBytes: fc.integer({ min: 1, max: 10_000 }),
      }),
      async (sizes, segmentBytes, limits) => {
        const { outbox, directory } = await openIn(root, { segmentBytes });
        for (const [index, [request, response]] of sizes.entries()) {
          await outbox.append({}, rawEntry(`e${index}`, 'a'.repeat(request), 'b'.repeat(response)));
        }
        const { heads } = await readAll(directory, limits);
        await outbox.close();
        t.same(
          heads,
          sizes.map((_, index) => `e${index}`),
        );
      },
    ),
    { numRuns: 40 },
  );
});

t.test('an entry with two bodies of 40 MiB is written and read', async (t) => {
  const { outbox, directory } = await openIn(temporaryRoot(t));
  const body = Buffer.alloc(40 * 1024 * 1024, 'x');
  t.equal(await outbox.append({}, { head: Buffer.from('big'), requestBody: body, responseBody: body }), true);
  const { entries } = await readOutbox(directory, BEGINNING, { maxEntries: 10, maxBytes: 1_000 });
  t.equal(entries.length, 1);
  t.ok(Buffer.from(entries[0]!.responseBody).equals(body));
  await outbox.close();
});

t.test(
  'an entry larger than readers accept is refused and counted, and those after it are read',
  async (t) => {
    const { outbox, directory } = await openIn(temporaryRoot(t));
    const body = Buffer.alloc(128 * 1024 * 1024);
    t.equal(
      await outbox.append({}, { head: Buffer.from('huge'), requestBody: body, responseBody: body }),
      false,
    );
    t.equal(outbox.refused, 1);
    t.equal(outbox.isRefusing, false, 'it takes others');
    t.equal(await outbox.append({}, rawEntry('after')), true);
    t.same((await readAll(directory)).heads, ['after']);
    await outbox.close();
  },
);

t.test('reading a segment ends where its writer truncates it meanwhile', { timeout: 10_000 }, async (t) => {
  const { outbox, directory } = await openIn(temporaryRoot(t));
  for (const name of ['a', 'b', 'c']) await outbox.append({}, rawEntry(name));
  await outbox.close();
  const end = await scanSegment(directory, { segment: 1, offset: 0 }, 64, (_frame, _position, bytes) => {
    truncateSync(join(directory, '0000000001.log'), bytes);
    return 'go on';
  });
  t.equal(end.next.offset > 0, true);
  t.same([end.ended, end.damage], [true, null]);
});

t.test('a torn end is skipped once its gateway has ended, and the entries before it are read', async (t) => {
  const root = temporaryRoot(t);
  const { outbox, directory } = await openIn(root);
  await outbox.append({}, rawEntry('whole'));
  await outbox.append({}, rawEntry('torn'));
  await outbox.close();
  const segment = join(directory, readdirSync(directory).find((name) => name.endsWith('.log'))!);
  truncateSync(segment, readFileSync(segment).length - 3);
  t.same((await readAll(directory)).heads, ['whole']);
});

t.test('damaged bytes are reported, with the entries before and after them', async (t) => {
  const root = temporaryRoot(t);
  const { outbox, directory } = await openIn(root, { segmentBytes: 100 });
  await outbox.append({}, rawEntry('a', 'x'.repeat(50)));
  await outbox.append({}, rawEntry('b', 'x'.repeat(200)));
  await outbox.append({}, rawEntry('c'));
  await outbox.close();
  const [first] = readdirSync(directory)
    .filter((name) => name.endsWith('.log'))
    .sort();
  const bytes = readFileSync(join(directory, first!));
  bytes[bytes.length - 1]! ^= 0xff;
  writeFileSync(join(directory, first!), bytes);
  const before = await readOutbox(directory, BEGINNING, ALL);
  t.same([before.entries.length, before.damage], [1, null]);
  const damaged = await readOutbox(directory, before.next, ALL);
  t.same([damaged.entries.length, damaged.damage?.reason], [0, 'checksum mismatch']);
  t.same((await readAll(directory, ALL, damaged.next)).heads, ['c']);
});

t.test('random damage never makes reading throw or stop', async (t) => {
  const root = temporaryRoot(t);
  const { outbox, directory } = await openIn(root);
  for (let index = 0; index < 10; index += 1) await outbox.append({}, rawEntry(`e${index}`));
  await outbox.close();
  const segment = join(directory, '0000000001.log');
  const whole = readFileSync(segment);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 5 }),
      async (changes) => {
        const bytes = Buffer.from(whole);
        for (const [at, value] of changes) bytes[at] = value;
        writeFileSync(segment, bytes);
        const { heads } = await readAll(directory);
        t.ok(heads.length <= 10);
      },
    ),
    { numRuns: 100 },
  );
});

t.test('an outbox cannot be taken while its gateway lives, and can after kill -9', async (t) => {
  const root = temporaryRoot(t);
  const program = `
    import { openOutbox } from '#platform/log-pipeline/outbox/mod.ts';
    import { createLogger } from '#platform/observability/log.ts';
    const outbox = await openOutbox({ root: ${JSON.stringify(root)}, id: 'A', maxBytes: 1e9, sync: 'process', log: createLogger({ role: 't', level: 'silent' }) });
    await outbox.append({}, { head: Buffer.from('last words'), requestBody: Buffer.alloc(0), responseBody: Buffer.alloc(0) });
    process.stdout.write('ready');
    setInterval(() => {}, 1000);`;
  const child = runProgram(program);
  await new Promise((resolve) => child.stdout.once('data', resolve));
  t.same(await listOutboxes(root), ['A']);
  t.equal(takeAbandonedOutbox(join(root, 'A')), null);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
  t.same((await readAll(join(root, 'A'))).heads, ['last words']);
  const lock = takeAbandonedOutbox(join(root, 'A'));
  t.not(lock, null);
  await removeOutbox(join(root, 'A'), lock!);
  t.notOk(existsSync(join(root, 'A')));
});

t.test('an outbox that several processes would remove is taken and removed by one of them', async (t) => {
  const root = temporaryRoot(t);
  const count = 100;
  for (let index = 0; index < count; index += 1) {
    const { outbox } = await openIn(root);
    await outbox.append({}, rawEntry('a'));
    await outbox.close();
  }
  const program = `
    import { existsSync } from 'node:fs';
    import { join } from 'node:path';
    import { listOutboxes, removeOutbox, takeAbandonedOutbox } from '#platform/log-pipeline/outbox/mod.ts';
    const root = ${JSON.stringify(root)};
    let removed = 0;
    for (let listed; (listed = await listOutboxes(root)).length > 0; ) {
      for (const name of listed) {
        const lock = takeAbandonedOutbox(join(root, name));
        if (lock === null) continue;
        if (!existsSync(join(root, name, '0000000001.log'))) throw new Error(name + ' was taken without its segment');
        await removeOutbox(join(root, name), lock);
        removed += 1;
      }
    }
    process.stdout.write(String(removed));`;
  const counts = await Promise.all(
    [1, 2, 3].map(async () => {
      const child = runProgram(program);
      return Number(await text(child.stdout));
    }),
  );
  t.equal(
    counts.reduce((sum, removed) => sum + removed, 0),
    count,
    `${counts.join(', ')} were removed`,
  );
  t.same(readdirSync(root), []);
});

t.test('bytes appended by another process are not taken for entries', async (t) => {
  const { outbox, directory } = await openIn(temporaryRoot(t));
  await outbox.append({}, rawEntry('a'));
  appendFileSync(join(directory, '0000000001.log'), Buffer.alloc(64, 0xff));
  const first = await readOutbox(directory, BEGINNING, ALL);
  t.same(first.entries.length, 1);
  const second = await readOutbox(directory, first.next, ALL);
  t.match(second.damage?.reason, /^a frame of/);
  await outbox.close();
});

t.test('an outbox that is still being created is not listed', async (t) => {
  const root = t.testdir({ '.new-01M82SVDX0HZRXZNK1ZMHN1MKR': {}, '01M82ST9RD1QA1ZZNZ4J4DJCSP': {} });
  t.same(await listOutboxes(root), ['01M82ST9RD1QA1ZZNZ4J4DJCSP']);
});

t.test(
  'what an interrupted removal left of an outbox is not listed, and goes when the next is opened',
  async (t) => {
    const root = temporaryRoot(t);
    const rest = join(root, '.gone-01M82SVDX0HZRXZNK1ZMHN1MKR');
    mkdirSync(rest);
    writeFileSync(join(rest, '0000000001.log'), 'bytes');
    t.same(await listOutboxes(root), []);
    const { id, outbox } = await openIn(root);
    t.same(readdirSync(root), [id]);
    await outbox.close();
  },
);

t.test('a reading says whether it left entries behind', async (t) => {
  const { outbox, directory } = await openIn(temporaryRoot(t));
  for (const head of ['a', 'b', 'c']) await outbox.append({}, rawEntry(head));
  const two = await readOutbox(directory, BEGINNING, { maxEntries: 2, maxBytes: 1e6 });
  t.equal(two.hasMore, true, 'the number of entries stopped it');
  t.equal((await readOutbox(directory, two.next, ALL)).hasMore, false);
  t.equal(
    (await readOutbox(directory, BEGINNING, { maxEntries: 10, maxBytes: 1 })).hasMore,
    true,
    'the bytes',
  );
  t.equal((await readOutbox(directory, BEGINNING, ALL)).hasMore, false);
  await outbox.close();
});

t.test('an outbox is measured every second, and seldom after a minute without entries', async (t) => {
  const delays: number[] = [];
  const later = globalThis.setTimeout;
  // Time flies: what is to be done later is done at once.
  t.intercept(globalThis, 'setTimeout', {
    value: (callback: () => void, ms: number) => {
      delays.push(ms);
      return later(callback, 0);
    },
  });
  const { outbox } = await openIn(temporaryRoot(t), { sync: 'process' });
  const measured = (count: number) => waitUntil(() => delays.length >= count);
  await measured(62);
  t.same(delays.slice(0, 60), Array(60).fill(1_000), 'for a minute');
  t.same(delays.slice(60, 62), [15_000, 15_000]);
  await outbox.append({}, rawEntry('e'));
  const since = delays.length;
  await measured(since + 2);
  t.ok(delays.slice(since).includes(1_000), 'and every second again after an entry');
  await outbox.close();
});

async function waitUntil(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise((resolve) => setImmediate(resolve));
}
