import { appendFileSync, chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { OutboxWrites } from '#platform/log-pipeline/outbox/mod.ts';
import { openIn, rawEntry, temporaryRoot } from '../../../../support/outbox.ts';

/** Longer than any test: a wait that it would have to end never ends. */
const NEVER_MS = 3_600_000;

/** Returns watched writes below a directory: the next wait is for a write. */
async function armed(t: { teardown(fn: () => void): void }, root: string): Promise<OutboxWrites> {
  const writes = new OutboxWrites(root, { lookAnywayMs: NEVER_MS });
  t.teardown(() => writes[Symbol.dispose]());
  await writes.wait();
  return writes;
}

t.test('a wait ends when an entry is appended', async (t) => {
  const root = temporaryRoot(t);
  const { outbox } = await openIn(root);
  const writes = await armed(t, root);
  const waiting = writes.wait();
  await outbox.append({}, rawEntry('entry'));
  await waiting;
  await outbox.close();
  t.pass('it ended');
});

t.test('a wait says whether its time passed without a word of a write', async (t) => {
  const root = temporaryRoot(t);
  mkdirSync(join(root, 'one'));
  const writes = await armed(t, root);
  t.equal(await writes.wait(50), true);
  const told = writes.wait();
  appendFileSync(join(root, 'one', 'a'), 'x');
  t.equal(await told, false);
  t.equal(await writes.wait(), false, 'it begins to watch anew');
  const woken = writes.wait();
  writes.wake();
  t.equal(await woken, false);
});

t.test('an outbox that may not be read is left out, and writes to the others are told', async (t) => {
  const root = temporaryRoot(t);
  const isRoot = process.getuid!() === 0;
  const [denied, open] = [join(root, 'denied'), join(root, 'open')];
  mkdirSync(denied, { mode: isRoot ? 0o700 : 0 });
  mkdirSync(open);
  chmodSync(root, 0o755);
  // The superuser may read everything.
  if (isRoot) process.seteuid!('nobody');
  t.teardown(() => (isRoot ? process.seteuid!(0) : chmodSync(denied, 0o700)));
  const writes = await armed(t, root);
  t.equal(await writes.wait(50), true, 'the others are watched');
  if (isRoot) process.seteuid!(0);
  const waiting = writes.wait();
  appendFileSync(join(open, 'a'), 'x');
  t.equal(await waiting, false);
});

t.test('a wait ends when another outbox is opened', async (t) => {
  const root = temporaryRoot(t);
  const writes = await armed(t, root);
  const waiting = writes.wait();
  const { outbox } = await openIn(root);
  await waiting;
  await outbox.close();
  t.pass('it ended');
});

t.test('what is written between two waits ends the second', async (t) => {
  const root = temporaryRoot(t);
  mkdirSync(join(root, 'one'));
  const writes = await armed(t, root);
  const first = writes.wait();
  appendFileSync(join(root, 'one', 'a'), 'x');
  await first;
  appendFileSync(join(root, 'one', 'a'), 'y');
  // This wait begins to watch anew, and leaves the look to the caller.
  await writes.wait();
  const third = writes.wait();
  appendFileSync(join(root, 'one', 'a'), 'z');
  await third;
  t.pass('they ended');
});

t.test('an outbox that is removed ends a wait, and is not watched any longer', async (t) => {
  const root = temporaryRoot(t);
  mkdirSync(join(root, 'one'));
  const writes = await armed(t, root);
  const waiting = writes.wait();
  rmSync(join(root, 'one'), { recursive: true });
  await waiting;
  await writes.wait();
  t.pass('it watches the others');
});

t.test('a directory that is not there yet is looked for again', async (t) => {
  const root = join(temporaryRoot(t), 'later');
  const writes = await armed(t, root);
  mkdirSync(root);
  await writes.wait();
  const waiting = writes.wait();
  mkdirSync(join(root, 'one'));
  await waiting;
  t.pass('it is watched');
});

t.test('a wait is ended by the caller, too', async (t) => {
  const writes = await armed(t, temporaryRoot(t));
  const waiting = writes.wait();
  writes.wake();
  await waiting;
  t.pass('it ended');
});

t.test('a wait that was ended before it began is no wait', async (t) => {
  const writes = await armed(t, temporaryRoot(t));
  writes.wake();
  await writes.wait();
  t.pass('it ended');
});

t.test('incessant writes end few waits', async (t) => {
  const root = temporaryRoot(t);
  mkdirSync(join(root, 'one'));
  const writes = await armed(t, root);
  const writing = setInterval(() => appendFileSync(join(root, 'one', 'a'), 'x'), 1);
  const startedAt = performance.now();
  const waits = 20;
  for (let count = 0; count < waits; count += 1) await writes.wait();
  clearInterval(writing);
  // Two of three begin to watch, or end a watch after 25 ms.
  t.ok(performance.now() - startedAt > (waits / 3) * 25, 'a look takes more than a write');
});
