import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { decodeEntry, encodeEntry } from '#core/contracts/dead-letter-codec.ts';
import type { LogEntry } from '#core/contracts/log-entry-codec.ts';
import { connectPostgres, isStoreUnavailable, type Sql } from '#platform/postgres/mod.ts';
import {
  deadLetterOf,
  dropDeadLetters,
  findDeadLetter,
  insertDeadLetter,
  listDeadLetters,
} from '../../../ingest/dead-letters.ts';
import { retryAllDeadLetters, retryDeadLetter } from '../../../ingest/retry-dead-letter.ts';
import { waitFor } from '../../support/assay.ts';
import { logEntry, logEntryHead, TEST_ORGANIZATION } from '../../support/log-entries.ts';
import { databaseFor } from '../../support/world.ts';
import { outboxWorld } from './outbox-world.ts';

const MIGRATION = new URL(
  '../../../platform/postgres/migrations/0002_dead_letters_and_retention.sql',
  import.meta.url,
);

async function setUp(t: Test) {
  const database = await databaseFor(t);
  return database;
}

/** Keeps a letter as ingest does, and returns its id. */
async function keep(sql: Sql, entry: LogEntry, more: { origin?: string; reason?: string } = {}) {
  const { origin = 'outbox/0/0', reason = 'why' } = more;
  await sql.begin((tx) => insertDeadLetter(tx, deadLetterOf({ ...entry, origin }, reason)));
  const [row] = await sql<{ id: string }[]>`
    select dead_letter_id as id from assay.dead_letters where entry = ${encodeEntry(entry)}`;
  return row!.id;
}

/** Makes Postgres refuse every record, until `heal` is called. */
async function refuseRecords(sql: Sql, sqlState: string) {
  await sql.unsafe(`
    create function assay.refuse() returns trigger language plpgsql as
      $$ begin raise exception 'not today' using errcode = '${sqlState}'; end $$;
    create trigger refuse before insert on assay.request_bodies execute function assay.refuse()`);
  return { heal: () => sql`drop trigger refuse on assay.request_bodies` };
}

const idsOf = async (sql: Sql) =>
  (await sql`select request_id from assay.requests order by 1`).map((row) => row.request_id);
const countOf = async (sql: Sql, table: string) =>
  (await sql<{ count: number }[]>`select count(*)::int from ${sql(`assay.${table}`)}`)[0]!.count;

t.test('decodeEntry returns the parts of an encoded entry, and null for other bytes', async (t) => {
  const parts = (entry: LogEntry | null) =>
    entry && [entry.head, entry.requestBody, entry.responseBody].map((part) => Buffer.from(part).toString());
  const of = (head: string, request: string, response: string) => ({
    head: Buffer.from(head),
    requestBody: Buffer.from(request),
    responseBody: Buffer.from(response),
  });
  t.same(parts(decodeEntry(encodeEntry(of('h', '', 'answer')))), ['h', '', 'answer']);
  t.same(parts(decodeEntry(encodeEntry(of('', '', '')))), ['', '', '']);
  const bytes = encodeEntry(of('head', 'request', ''));
  t.equal(decodeEntry(bytes.subarray(0, -1)), null);
  t.equal(decodeEntry(bytes.subarray(0, 7)), null);
  t.equal(decodeEntry(Buffer.from('a damaged stretch')), null);
});

t.test('an entry that is delivered again from another origin adds no second letter', async (t) => {
  const { sql } = await setUp(t);
  const entry = logEntry();
  await keep(sql, entry, { origin: 'outbox/0/0', reason: 'first' });
  await keep(sql, entry, { origin: 'LOGS/17', reason: 'second' });
  await keep(sql, logEntry(), { origin: 'outbox/0/0' });
  const rows = await sql`select origin, reason from assay.dead_letters order by dead_letter_id`;
  t.same(
    [...rows],
    [
      { origin: 'outbox/0/0', reason: 'first' },
      { origin: 'outbox/0/0', reason: 'why' },
    ],
  );
});

t.test('the migration keeps existing letters, each once', async (t) => {
  const { sql } = await setUp(t);
  await sql.unsafe(`
    alter table assay.dead_letters drop column entry_digest, add unique (origin);
    drop index assay.claimed_request_ids_claimed_at_idx;
    insert into assay.dead_letters (origin, reason, entry) values
      ('a/0/0', 'first', 'same'), ('b/0/0', 'again', 'same'), ('a/0/9', 'other', 'other')`);
  await sql.unsafe(readFileSync(MIGRATION, 'utf8'));
  const rows = await sql`
    select origin, entry_digest = sha256(entry) as fits from assay.dead_letters order by origin`;
  t.same(
    [...rows],
    [
      { origin: 'a/0/0', fits: true },
      { origin: 'a/0/9', fits: true },
    ],
  );
  await t.rejects(sql`insert into assay.dead_letters (origin, reason, entry) values ('c', 'r', 'same')`, {
    code: '23505',
  });
});

t.test('a letter can be stored whatever owner its head names', async (t) => {
  const { sql, put, ingest } = await outboxWorld(t);
  const heads = [
    { ...logEntryHead(), v: 2, id: 'a\0b\ud83d' },
    { ...logEntryHead(), v: 2, id: 'x'.repeat(5_000), organizationId: '-'.repeat(36) },
    { ...logEntryHead(), v: 2, id: 7, organizationId: null },
    { ...logEntryHead(), [`\0${'y'.repeat(1_000_000)}`]: 1 },
    'null',
    '[]',
    '',
    '\0',
  ];
  for (const head of heads) await put(head);
  const good = logEntryHead();
  await put(good);
  await ingest();
  t.same(await idsOf(sql), [good.id]);
  const { letters, total } = await listDeadLetters(sql, { organizationId: null, limit: 100 });
  t.equal(total, heads.length);
  t.equal(letters.at(-1)?.requestId, 'a\ufffdb\ufffd');
  t.ok(letters.every(({ reason }) => reason.length > 10 && reason.length <= 2_000));
});

t.test('a reason can be stored whatever the error quotes, cut to its beginning', async (t) => {
  const { sql } = await setUp(t);
  const id = await keep(sql, logEntry(), { reason: `a\0\ud83d${'b'.repeat(1_000_000)}` });
  t.equal((await findDeadLetter(sql, id))?.reason, `a\ufffd\ufffd${'b'.repeat(1_997)}`);
});

t.test('letters are listed newest first, with the name of their organization', async (t) => {
  const { sql } = await setUp(t);
  await sql`insert into assay.organizations (organization_id, name) values (${TEST_ORGANIZATION}, 'acme')`;
  const other = '00000000-0000-4000-8000-000000000002';
  await keep(sql, logEntry({ id: 'first' }));
  await keep(sql, logEntry({ id: 'second', organizationId: other }), { reason: 'odd' });
  await keep(sql, { ...logEntry(), head: Buffer.from('no head') });
  const all = await listDeadLetters(sql, { organizationId: null, limit: 2 });
  t.equal(all.total, 3);
  t.match(all.letters, [
    { requestId: null, organization: null },
    { requestId: 'second', organization: other, reason: 'odd' },
  ]);
  t.equal(all.letters[0]?.bytes, 8 + 'no head'.length + 2 * '{"model":"gpt-4o-mini"}'.length);
  const own = await listDeadLetters(sql, { organizationId: TEST_ORGANIZATION, limit: 2 });
  t.match(own, { total: 1, letters: [{ requestId: 'first', organization: 'acme' }] });
});

t.test(
  'findDeadLetter returns the parts of an entry, or only the bytes when they are no entry',
  async (t) => {
    const { sql } = await setUp(t);
    const id = await keep(sql, logEntry({}, { request: { a: 1 } }), { origin: 'o/1/2' });
    const found = await findDeadLetter(sql, id);
    t.match(found, { origin: 'o/1/2', reason: 'why' });
    t.equal(Buffer.from(found!.entry!.requestBody).toString(), '{"a":1}');
    await sql`insert into assay.dead_letters (origin, reason, entry) values ('o', 'damaged', 'bytes')`;
    const [row] = await sql`select dead_letter_id as id from assay.dead_letters where origin = 'o'`;
    const damage = await findDeadLetter(sql, row!.id);
    t.equal(damage?.entry, null);
    t.equal(damage?.bytes.toString(), 'bytes');
    t.equal(await findDeadLetter(sql, '999'), null);
  },
);

t.test(
  'a retry stores a letter whose cause is mended as a whole record, and removes the letter',
  async (t) => {
    const { sql, put, ingest } = await outboxWorld(t);
    const { heal } = await refuseRecords(sql, '22000');
    const head = logEntryHead({ createdAtMs: Date.UTC(2024, 4, 1), properties: [['Plan', 'pro']] });
    await put(head, '{"a":"x\\u0000"}', '{"model":"gpt-4o-mini"}');
    await ingest();
    const [letter] = (await listDeadLetters(sql, { organizationId: null, limit: 1 })).letters;
    t.match(letter, { requestId: head.id, reason: /not today/ });
    await heal();
    t.same(await retryDeadLetter(sql, letter!.id), { refused: null });
    t.equal(await countOf(sql, 'dead_letters'), 0);
    const [row] = await sql`
    select created_at, request_raw, pair_hash is not null as has_property
      from assay.requests join assay.request_bodies using (organization_id, created_at, request_id)
      left join assay.request_properties using (organization_id, created_at, request_id)`;
    t.same(row, {
      created_at: new Date(head.createdAtMs),
      request_raw: Buffer.from('{"a":"x\\u0000"}'),
      has_property: true,
    });
    t.equal(await retryDeadLetter(sql, letter!.id), null, 'there is no such letter now');
  },
);

t.test('a letter that Postgres refuses again stays, with the new reason', async (t) => {
  const { sql } = await setUp(t);
  await refuseRecords(sql, '22000');
  const id = await keep(sql, logEntry(), { reason: 'the old one' });
  const bad = await keep(sql, { ...logEntry(), head: Buffer.from('no head') });
  t.same(await retryDeadLetter(sql, id), { refused: 'Refused again: not today' });
  t.match(await retryDeadLetter(sql, bad), { refused: /^Refused again: .*is not valid JSON/ });
  t.equal((await findDeadLetter(sql, id))?.reason, 'Refused again: not today');
  t.equal(await countOf(sql, 'requests'), 0, 'nothing of it is stored');
});

t.test('a letter is unchanged after a retry while Postgres cannot store anything', async (t) => {
  const { sql } = await setUp(t);
  await refuseRecords(sql, '57P03');
  const id = await keep(sql, logEntry(), { reason: 'the old one' });
  const error = await retryDeadLetter(sql, id).then(
    () => null,
    (reason: unknown) => reason,
  );
  t.ok(isStoreUnavailable(error));
  t.equal((await findDeadLetter(sql, id))?.reason, 'the old one');
});

t.test('a letter that holds no entry cannot be retried', async (t) => {
  const { sql } = await setUp(t);
  const [row] = await sql`
    insert into assay.dead_letters (origin, reason, entry) values ('o', 'The outbox was damaged', 'bytes')
    returning dead_letter_id as id`;
  t.same(await retryDeadLetter(sql, row!.id), {
    refused: 'The outbox was damaged (the letter holds no entry to store)',
  });
  t.equal(await countOf(sql, 'dead_letters'), 1);
});

t.test('concurrent retries of one letter store it once', async (t) => {
  const { sql, url } = await setUp(t);
  const id = await keep(sql, logEntry({ properties: [['Plan', 'pro']] }));
  const others = connectPostgres({ url, max: 8, applicationName: 'others', statementTimeoutMs: 20_000 });
  const results = await Promise.all(Array.from({ length: 8 }, () => retryDeadLetter(others, id)));
  await others.end();
  t.same(
    results.filter((result) => result !== null),
    [{ refused: null }],
  );
  for (const table of ['requests', 'request_bodies', 'request_properties'])
    t.equal(await countOf(sql, table), 1);
});

t.test('a letter that is dropped during a retry stays dropped', async (t) => {
  const { sql } = await setUp(t);
  const id = await keep(sql, logEntry());
  let retrying: Promise<unknown> | undefined;
  await sql.begin(async (tx) => {
    await tx`delete from assay.dead_letters where dead_letter_id = ${id}`;
    retrying = retryDeadLetter(sql, id);
    await waitFor('the retry to wait for the letter', async () => {
      const waiting = await sql`
        select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      return waiting.length > 0;
    });
  });
  t.equal(await retrying, null);
  t.equal(await countOf(sql, 'requests'), 0);
});

t.test('retrying a letter whose record exists by now adds no second record', async (t) => {
  const { sql, put, ingest } = await outboxWorld(t);
  const head = logEntryHead();
  await put(head);
  await ingest();
  const id = await keep(sql, {
    head: Buffer.from(JSON.stringify(head)),
    requestBody: Buffer.from('{}'),
    responseBody: Buffer.from('{}'),
  });
  t.same(await retryDeadLetter(sql, id), { refused: null });
  t.same(await idsOf(sql), [head.id]);
  t.equal(await countOf(sql, 'request_bodies'), 1);
});

t.test('retrying all letters tries each by itself, also when some are refused', async (t) => {
  const { sql } = await setUp(t);
  const good = [logEntry(), logEntry(), logEntry()];
  await keep(sql, good[0]!);
  await keep(sql, { ...logEntry(), head: Buffer.from('no head') });
  await keep(sql, good[1]!);
  await keep(sql, logEntry({ status: 9_999_999_999 }));
  await keep(sql, good[2]!);
  t.same(await retryAllDeadLetters(sql), { stored: 3, refused: 2 });
  t.same(await idsOf(sql), good.map(({ id }) => id).sort());
  t.equal(await countOf(sql, 'dead_letters'), 2);
});

t.test('dropDeadLetters drops one letter, or all of them', async (t) => {
  const { sql } = await setUp(t);
  const id = await keep(sql, logEntry());
  await keep(sql, logEntry());
  await keep(sql, logEntry());
  t.equal(await dropDeadLetters(sql, id), 1);
  t.equal(await dropDeadLetters(sql, id), 0);
  t.equal(await dropDeadLetters(sql, null), 2);
  t.equal(await countOf(sql, 'dead_letters'), 0);
});
