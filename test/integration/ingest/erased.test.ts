/** Entries of erased requests that come later, however they come, and writers that meet an erasure half-way. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { LogEntryHead } from '#core/contracts/log-entry.ts';
import { reserveRequestId } from '#platform/keys/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { removeProperty } from '../../../api/requests/property.ts';
import { deadLetterOf, insertDeadLetter } from '../../../ingest/dead-letters.ts';
import { retryDeadLetter } from '../../../ingest/retry-dead-letter.ts';
import { type Batch, BatchStore } from '../../../ingest/store-batch.ts';
import { waitFor } from '../../support/assay.ts';
import { erase, eraseIn, waitingForLocks } from '../../support/erase.ts';
import { logEntry, logEntryHead, TEST_ORGANIZATION } from '../../support/log-entries.ts';
import { openTransaction } from '../../support/postgres.ts';
import { createWorld, silentLog } from '../../support/world.ts';
import { outboxWorld } from './outbox-world.ts';

const world = await createWorld(t);
const { sql } = world;
const pool = world.connect({ max: 4, statementTimeoutMs: 20_000 });
const storeOf = () => new BatchStore({ sql: pool, log: silentLog, clock: systemClock, retentionDays: null });
const store = storeOf();

const entryOf = (head: Partial<LogEntryHead> = {}) => ({ ...logEntry(head), origin: 'test/0/0' });
const put = (entries: Batch['entries'], alongside?: Batch['alongside']) =>
  store.store({ entries, ...(alongside === undefined ? {} : { alongside }) });

async function tracesOf(requestId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select (select count(*) from assay.requests where request_id = ${requestId})::int
         + (select count(*) from assay.request_bodies where request_id = ${requestId})::int
         + (select count(*) from assay.request_properties where request_id = ${requestId})::int
         + (select count(*) from assay.dead_letters where request_id = ${requestId})::int as count`;
  return row!.count;
}

t.test(
  'an entry of an erased request that comes again is not stored, and the others of its batch are',
  async (t) => {
    const erased = entryOf({ properties: [['plan', 'pro']] });
    await put([erased]);
    t.same(await erase(sql, TEST_ORGANIZATION, erased.id), { erased: 1, known: 1 });
    const other = entryOf();
    const sameId = entryOf({ id: erased.id, organizationId: randomUUID() });
    const nothing = { deadLetters: 0, expired: 0 };
    t.same(await put([other, erased, sameId]), { ...nothing, stored: 2, erased: 1 });
    t.same(await put([erased]), { ...nothing, stored: 0, erased: 1 });
    t.not(await tracesOf(other.id), 0);
    const [row] = await sql`
    select count(*)::int as count from assay.requests
     where request_id = ${erased.id} and organization_id = ${TEST_ORGANIZATION}`;
    t.equal(row!.count, 0);
  },
);

t.test('an entry of the same id with another time is not stored either', async (t) => {
  const first = entryOf();
  await put([first]);
  await erase(sql, TEST_ORGANIZATION, first.id);
  t.match(await put([entryOf({ id: first.id, createdAtMs: Date.now() - 5_000 })]), { stored: 0, erased: 1 });
});

t.test('an entry of an erased request that cannot be stored becomes no dead letter', async (t) => {
  const first = entryOf();
  await put([first]);
  await erase(sql, TEST_ORGANIZATION, first.id);
  const head = { ...logEntryHead({ id: first.id }), path: 17 };
  const broken = { ...first, head: Buffer.from(JSON.stringify(head)) };
  t.match(await put([broken]), { deadLetters: 0, erased: 1 });
  t.equal(await tracesOf(first.id), 0);
});

t.test('an outbox that is read again from its beginning brings nothing back', async (t) => {
  const { put: append, ingest, sql: apart } = await outboxWorld(t);
  const head = logEntryHead({ organizationId: TEST_ORGANIZATION });
  await append(head);
  await ingest();
  await erase(apart, TEST_ORGANIZATION, head.id);
  await apart`delete from assay.outbox_cursors`;
  await ingest();
  t.same(await apart`select request_id from assay.requests`, []);
  const [cursor] = await apart`select position from assay.outbox_cursors`;
  t.ok(Number(cursor!.position) > 0, 'the cursor has passed the entry');
});

t.test(
  'an erasure that begins while a batch is being stored waits, and erases what the batch stores',
  async (t) => {
    const entry = entryOf();
    await put([entry]);
    const again = entryOf({ id: entry.id, createdAtMs: Date.now() - 7_000 });
    const within = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const storing = put([again], async (tx) => {
      // The check for tombstones was sent before this, and the insert comes after it.
      await tx`select 1`;
      within.resolve();
      await goOn.promise;
    });
    await within.promise;
    const erasing = erase(pool, TEST_ORGANIZATION, entry.id);
    await waitFor('the erasure to wait', async () => (await waitingForLocks(sql)) > 0);
    goOn.resolve();
    t.match(await storing, { stored: 1 });
    t.same(await erasing, { erased: 1, known: 1 });
    t.equal(await tracesOf(entry.id), 0);
  },
);

t.test(
  'a batch that begins while an erasure is not committed waits, and then stores nothing of it',
  async (t) => {
    const entry = entryOf();
    await put([entry]);
    const again = entryOf({ id: entry.id, createdAtMs: Date.now() - 7_000 });
    const erasing = await openTransaction(sql, (tx) => eraseIn(tx, TEST_ORGANIZATION, [entry.id]));
    const storing = Promise.all([put([again]), storeOf().store({ entries: [entry] })]);
    await waitFor('both batches to wait', async () => (await waitingForLocks(sql)) === 2);
    await erasing.end();
    for (const result of await storing) t.match(result, { stored: 0, erased: 1 });
    t.equal(await tracesOf(entry.id), 0);
  },
);

t.test("an erasure keeps other organizations' batches from waiting", async (t) => {
  const entry = entryOf();
  await put([entry]);
  const erasing = await openTransaction(sql, (tx) => eraseIn(tx, TEST_ORGANIZATION, [entry.id]));
  t.match(await put([entryOf({ organizationId: randomUUID() })]), { stored: 1 });
  await erasing.end();
});

t.test(
  'many erasures and batches of the same ids at once end with nothing stored, and none fails',
  async (t) => {
    const entries = Array.from({ length: 30 }, () => entryOf({ properties: [['plan', 'pro']] }));
    await put(entries);
    const work: Promise<unknown>[] = [];
    for (let round = 0; round < 4; round += 1) {
      work.push(storeOf().store({ entries: entries.toReversed() }));
      work.push(erase(pool, TEST_ORGANIZATION, ...entries.map(({ id }) => id)));
      work.push(storeOf().store({ entries }));
    }
    await Promise.all(work);
    const [row] = await sql`
    select count(*)::int as count from assay.requests where request_id = any(${entries.map(({ id }) => id)})`;
    t.equal(row!.count, 0);
  },
);

t.test('a dead letter of a request that is erased meanwhile is not stored by its retry', async (t) => {
  const entry = entryOf();
  await put([entry]);
  const keep = async () => {
    await sql.begin((tx) => insertDeadLetter(tx, deadLetterOf(entry, 'why')));
    const [row] = await sql<{ id: string }[]>`
      select dead_letter_id::text as id from assay.dead_letters where request_id = ${entry.id}`;
    return row!.id;
  };
  const id = await keep();
  const erasing = await openTransaction(sql, (tx) => eraseIn(tx, TEST_ORGANIZATION, [entry.id]));
  const retrying = retryDeadLetter(pool, id);
  await waitFor('the retry to wait', async () => (await waitingForLocks(sql)) > 0);
  await erasing.end();
  t.equal(await retrying, null, 'the letter is gone');
  t.equal(await tracesOf(entry.id), 0);
  t.same(await retryDeadLetter(pool, await keep()), { refused: null }, 'one that came later is removed');
  t.equal(await tracesOf(entry.id), 0);
});

t.test("a judge's call that comes after the erasure of what it judged is not stored", async (t) => {
  const judged = entryOf();
  await put([judged]);
  const [evaluation] = await sql<{ id: string }[]>`
    insert into assay.evaluations (organization_id, evaluator_id, version, created_at, request_id, lane, priority, due_at, scheduled_at)
    select organization_id, ${randomUUID()}, 1, created_at, request_id, 'remote', 0, now(), now()
      from assay.requests where request_id = ${judged.id}
    returning evaluation_id::text as id`;
  const callOf = (evaluationId: string, more: Partial<LogEntryHead> = {}) =>
    entryOf({ source: 'evaluator', properties: [['Assay-Evaluation-Id', evaluationId]], ...more });
  await erase(sql, TEST_ORGANIZATION, judged.id);
  const late = callOf(evaluation!.id);
  t.match(await put([late]), { stored: 0, erased: 1 });
  t.equal(await tracesOf(late.id), 0);
  const trial = callOf(`trial-${randomUUID()}`);
  const foreign = callOf(evaluation!.id, { organizationId: randomUUID() });
  const ordinary = entryOf({ properties: [['Assay-Evaluation-Id', evaluation!.id]] });
  t.match(await put([trial, foreign, ordinary]), { stored: 3, erased: 0 });
});

t.test('an id of an erased request cannot be reserved by its organization', async (t) => {
  const entry = entryOf();
  await put([entry]);
  await erase(sql, TEST_ORGANIZATION, entry.id);
  t.equal(await reserveRequestId(sql, TEST_ORGANIZATION, entry.id), false);
  t.equal(await reserveRequestId(sql, randomUUID(), entry.id), true);
  t.equal(await reserveRequestId(sql, TEST_ORGANIZATION, newRequestId()), true);
});

t.test(
  'an entry that comes again leaves the properties that were taken back since as they are',
  async (t) => {
    const entry = entryOf({
      properties: [
        ['plan', 'pro'],
        ['team', 'red'],
      ],
    });
    await put([entry]);
    await sql.begin((tx) => removeProperty(tx, TEST_ORGANIZATION, entry.id, 'PLAN'));
    const indexed = async () =>
      (await sql`select 1 from assay.request_properties where request_id = ${entry.id}`).length;
    t.equal(await indexed(), 1);
    await put([entry]);
    await put([entry]);
    t.equal(await indexed(), 1);
  },
);

t.test('an empty answer of the cache is not kept for an erased request', async (t) => {
  const entry = entryOf();
  await put([entry]);
  await erase(sql, TEST_ORGANIZATION, entry.id);
  const keep = (owner: string) => sql`
    select assay.keep_answer(${owner}, ${Buffer.from('key')}, ${entry.id}, now(), now() + interval '1 day',
      200::smallint, 'application/json', ${Buffer.from('{}')}, ${Buffer.alloc(32)}, 20, 1000000)`;
  await keep(TEST_ORGANIZATION);
  t.same(await sql`select 1 from assay.cached_answers`, []);
  await keep(randomUUID());
  t.equal((await sql`select 1 from assay.cached_answers`).length, 1, "another organization's is");
});
