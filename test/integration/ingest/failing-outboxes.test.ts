import { appendFileSync, mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { listOutboxes } from '#platform/log-pipeline/outbox/mod.ts';
import { waitFor } from '../../support/assay.ts';
import { logEntryHead } from '../../support/log-entries.ts';
import { breakSegment, openIn, rawEntry } from '../../support/outbox.ts';
import { createWorld, movableClock } from '../../support/world.ts';
import { outboxWorld } from './outbox-world.ts';

/** The outbox of a gateway that is gone, with an entry in it, and the younger one of a gateway that runs. */
async function goneAndLive(t: Test) {
  const world = await outboxWorld(t);
  const { root, sql, outbox, openAnother, put } = world;
  const late = logEntryHead();
  await put(late);
  await outbox.close();
  const [goneId] = await listOutboxes(root);
  const live = await openAnother();
  t.teardown(() => live.close());
  t.equal((await listOutboxes(root))[0], goneId, 'the one that is gone is read first');
  return {
    ...world,
    goneId: goneId!,
    gone: join(root, goneId!),
    late,
    putLive: (head: object) => put(head, '{}', '{}', live),
    isStored: async ({ id }: { id: string }) =>
      (await sql`select 1 from assay.requests where request_id = ${id}`).length === 1,
  };
}

t.test(
  'an outbox that cannot be read does not keep others from being stored, and is stored once it can be read',
  async (t) => {
    const { drain, gone, goneId, late, putLive, isStored, root } = await goneAndLive(t);
    const repair = breakSegment(gone);
    const lines: { level: number; outboxId?: string; error: string }[] = [];
    const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) });
    const { clock, advance } = movableClock();
    const reader = drain(undefined, { log, clock });
    const running = reader.run();
    const early = logEntryHead();
    await putLive(early);
    await waitFor('the entry of the running gateway', () => isStored(early));
    t.match(lines[0], { level: 50, outboxId: goneId, error: /EISDIR/ }, 'the operator learns which one');
    t.equal(reader.failingOutboxes, 1);
    repair();
    advance(300_000);
    await waitFor('the entry that could not be read', () => isStored(late));
    await waitFor('its outbox to be removed', async () => !(await listOutboxes(root)).includes(goneId));
    t.equal(reader.failingOutboxes, 0);
    reader.stop();
    await running;
  },
);

t.test('an outbox that cannot be taken over does not keep others from being stored', async (t) => {
  const { drain, gone, goneId, late, putLive, isStored, root } = await goneAndLive(t);
  const lock = join(gone, 'owner.lock');
  renameSync(lock, join(gone, 'aside'));
  mkdirSync(lock);
  const { clock, advance } = movableClock();
  const reader = drain(undefined, { clock });
  const running = reader.run();
  await waitFor('its entry', () => isStored(late));
  await waitFor('it to fail', () => reader.failingOutboxes === 1);
  const early = logEntryHead();
  await putLive(early);
  await waitFor('the entry of the running gateway', () => isStored(early));
  t.equal(reader.failingOutboxes, 1, 'reading it to its end again does not make it sound');
  rmdirSync(lock);
  renameSync(join(gone, 'aside'), lock);
  advance(300_000);
  await waitFor('it to be removed', async () => !(await listOutboxes(root)).includes(goneId));
  reader.stop();
  await running;
});

t.test('an ingest that is stopped stores all but what cannot be read, and ends', async (t) => {
  const { ingest, gone, late, putLive, isStored } = await goneAndLive(t);
  breakSegment(gone);
  const early = logEntryHead();
  await putLive(early);
  await ingest();
  t.ok(await isStored(early));
  t.notOk(await isStored(late));
});

t.test('ingest counts and reports the outboxes that cannot be read, and stays ready', async (t) => {
  const world = await createWorld(t);
  const dataDir = world.directory();
  const { outbox, directory } = await openIn(join(dataDir, 'outbox'));
  await outbox.append({}, rawEntry('entry'));
  await outbox.close();
  breakSegment(directory);
  const { url } = await world.start('ingest', { DATA_DIR: dataDir, INGEST_PORT: '0' });
  await waitFor('it to be counted', async () => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    return /^assay_outboxes_failing\{role="ingest"\} 1$/m.test(metrics);
  });
  await waitFor('it to be reported', async () => {
    const [process] = await world.sql`select state from assay.processes where role = 'ingest'`;
    return process?.state.failing_outboxes === 1;
  });
  t.equal((await fetch(`${url}/readyz`)).status, 200);
});

t.test(
  'a changed bit in the outbox of a running gateway costs one entry, and holds up no other',
  async (t) => {
    const { root, sql, put, drain } = await outboxWorld(t);
    const heads = [logEntryHead(), logEntryHead(), logEntryHead()];
    for (const head of heads) await put(head);
    const segment = join(root, (await listOutboxes(root))[0]!, '0000000001.log');
    const bytes = readFileSync(segment);
    bytes[bytes.indexOf(heads[1]!.id)]! ^= 1;
    writeFileSync(segment, bytes);
    const reader = drain();
    const running = reader.run();
    await waitFor('the last entry', async () => {
      const found = await sql`select 1 from assay.requests where request_id = ${heads[2]!.id}`;
      return found.length === 1;
    });
    t.match(await sql`select reason from assay.dead_letters`, [{ reason: /^The outbox was damaged/ }]);
    t.equal((await sql`select 1 from assay.requests`).length, 2);
    reader.stop();
    await running;
  },
);

t.test(
  'damage behind which nothing can be read yet counts as a failing outbox, and is told once',
  async (t) => {
    const { root, put, drain } = await outboxWorld(t);
    await put(logEntryHead());
    const [outboxId] = await listOutboxes(root);
    appendFileSync(join(root, outboxId!, '0000000001.log'), Buffer.alloc(64, 0xff));
    const lines: { level: number; outboxId?: string }[] = [];
    const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) });
    const reader = drain(undefined, { log });
    const running = reader.run();
    await waitFor('it to be found', () => reader.failingOutboxes === 1);
    await put(logEntryHead());
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    t.match(lines, [{ level: 50, outboxId, msg: /damaged/ }]);
    reader.stop();
    await running;
  },
);
