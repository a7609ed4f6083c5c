import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { listOutboxes } from '#platform/log-pipeline/outbox/mod.ts';
import { connectPostgres } from '#platform/postgres/mod.ts';
import { logEntry, logEntryHead } from '../../support/log-entries.ts';
import { openIn } from '../../support/outbox.ts';
import { outboxWorld } from './outbox-world.ts';

t.test('unusual bodies are stored unchanged, and beside that in a form that can be searched', async (t) => {
  const { sql, put, ingest } = await outboxWorld(t);
  const odd: Record<string, string> = {
    'NUL and lone surrogates': '{"a":"x\\u0000y \\ud83d"}',
    'a number beyond double precision': '{"a":1e400000}',
    'duplicate keys': '{"a":1,"a":2}',
    '100,000 levels': `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    'raw bytes that are no UTF-8': '{"a":"\udcff"}',
    __proto__: '{"__proto__":{"polluted":true}}',
    spaces: '{ "a" : 1 }',
  };
  const ids = new Map<string, string>();
  for (const [what, body] of Object.entries(odd)) {
    const entryHead = logEntryHead();
    ids.set(entryHead.id, what);
    await put(entryHead, body, body);
  }
  await ingest();
  const rows = await sql<
    {
      request_id: string;
      request_text: string;
      request_raw: Buffer | null;
      response_raw: Buffer | null;
      kind: string;
    }[]
  >`
    select *, jsonb_typeof(request_text::jsonb) as kind from assay.request_bodies`;
  t.equal(rows.length, ids.size);
  for (const row of rows) {
    const given = Buffer.from(odd[ids.get(row.request_id)!]!);
    t.equal(row.kind, 'object');
    t.ok((row.request_raw ?? Buffer.from(row.request_text)).equals(given), ids.get(row.request_id)!);
    t.ok((row.response_raw ?? Buffer.from(row.request_text)).equals(given), ids.get(row.request_id)!);
  }
  t.equal((await sql`select 1 from assay.dead_letters`).length, 0);
  t.equal(({} as { polluted?: boolean }).polluted, undefined);
});

t.test('the form of a body that can be searched has all digits of its numbers', async (t) => {
  const { sql, put, ingest } = await outboxWorld(t);
  const deep = `{ "a": ${'['.repeat(9_000)}${']'.repeat(9_000)}, "id": 9007199254740993 }`;
  await put(
    logEntryHead(),
    '{ "id": 9007199254740993, "small": 0.10, "list": [-12345678901234567890] }',
    deep,
  );
  await ingest();
  const [row] = await sql<{ request_text: string; response_text: string }[]>`
    select request_text, response_text from assay.request_bodies`;
  t.equal(row!.request_text, '{"id":9007199254740993,"small":0.1,"list":[-12345678901234567890]}');
  t.match(row!.response_text, /"id":900719925474099\d/, 'a body nested too deep for that is stored, too');
});

t.test('a body that is no JSON object is stored as text', async (t) => {
  const { sql, put, ingest } = await outboxWorld(t);
  const bodies = ['<html>', '[1,2]', '"text"', 'null', ''];
  for (const [index, body] of bodies.entries())
    await put(logEntryHead({ createdAtMs: Date.now() + index }), '{}', body);
  await ingest();
  const rows = await sql`select response_text from assay.request_bodies order by created_at`;
  t.same(
    rows.map((row) => JSON.parse(row.response_text)),
    [{ text: '<html>' }, { text: '[1,2]' }, { text: '"text"' }, { text: 'null' }, {}],
  );
});

t.test('an unreadable entry becomes a dead letter, and the others are stored', async (t) => {
  const { sql, put, ingest } = await outboxWorld(t);
  const good = logEntryHead();
  await put('not json', 'req', 'res');
  await put({ ...logEntryHead(), v: 2 });
  await put(good);
  await put({ ...logEntryHead(), organizationId: 'nobody' });
  await put({ ...logEntryHead(), latencyMs: 1e12 });
  await ingest();
  t.same(
    (await sql`select request_id from assay.requests`).map((row) => row.request_id),
    [good.id],
  );
  const letters = await sql`select reason, entry from assay.dead_letters order by dead_letter_id`;
  t.equal(letters.length, 4);
  t.match(letters[0]!.reason, /is not valid JSON/);
  t.match(letters[1]!.reason, /does not fit its schema: \/v/);
  t.match(letters[2]!.reason, /Postgres refused the record/);
  const entry: Buffer = letters[0]!.entry;
  t.equal(entry.subarray(8).toString(), 'not jsonreqres', 'the bytes are kept whole');
});

t.test('a batch that Postgres refuses is halved until one entry is alone', async (t) => {
  const { sql, put, ingest } = await outboxWorld(t);
  const bad = new Set([7, 8, 40]);
  for (let index = 0; index < 50; index += 1) {
    await put(logEntryHead(bad.has(index) ? { status: 9_999_999_999 } : {}));
  }
  await ingest();
  t.equal((await sql`select 1 from assay.requests`).length, 47);
  t.equal((await sql`select 1 from assay.dead_letters`).length, 3);
});

t.test('reading an outbox from its beginning again stores nothing twice', async (t) => {
  const { sql, put, ingest } = await outboxWorld(t);
  for (let index = 0; index < 20; index += 1) await put(logEntryHead({ properties: [['Plan', 'pro']] }));
  await put('poison');
  await ingest();
  await sql`delete from assay.outbox_cursors`;
  await ingest();
  const [counts] =
    await sql`select (select count(*) from assay.requests) r, (select count(*) from assay.request_bodies) b,
    (select count(*) from assay.request_properties) p, (select count(*) from assay.dead_letters) d`;
  t.same(counts, { r: '20', b: '20', p: '20', d: '1' });
});

t.test('two processes that read the same outbox store each entry once', async (t) => {
  const { sql, put, drain } = await outboxWorld(t);
  const readers = [drain(), drain(), drain()];
  const running = readers.map((reader) => reader.run());
  for (let index = 0; index < 300; index += 1) {
    await put(logEntryHead());
    if (index % 20 === 0) await sleep(1);
  }
  for (const reader of readers) reader.stop();
  await Promise.all(running);
  t.equal((await sql`select 1 from assay.requests`).length, 300);
  t.equal((await sql`select 1 from assay.dead_letters`).length, 0);
});

t.test(
  'the outbox of a gateway that has ended is read and removed, that of a running one is kept',
  async (t) => {
    const { sql, root, openAnother, put, ingest } = await outboxWorld(t);
    const gone = await openAnother();
    await put(logEntryHead(), '{}', '{}', gone);
    await put(logEntryHead());
    await gone.close();
    await ingest();
    await ingest();
    t.equal((await listOutboxes(root)).length, 1);
    t.equal((await sql`select 1 from assay.requests`).length, 2);
    t.equal((await sql`select 1 from assay.outbox_cursors`).length, 1);
  },
);

t.test('entries of different weeks go to partitions of their own', async (t) => {
  const { sql, put, ingest } = await outboxWorld(t);
  for (const day of ['2024-12-29T23:59:59.999Z', '2024-12-30T00:00:00Z', '2026-03-01T12:00:00Z']) {
    await put(logEntryHead({ createdAtMs: Date.parse(day), answeredAtMs: Date.parse(day) + 1 }));
  }
  await ingest();
  const rows =
    await sql`select (select relname from pg_class where oid = r.tableoid) as partition from assay.requests r order by created_at`;
  t.same(
    rows.map((row) => row.partition),
    ['requests_w20241223', 'requests_w20241230', 'requests_w20260223'],
  );
});

t.test('entries that arrive while Postgres is unavailable are stored when it returns', async (t) => {
  const { sql, put, drain } = await outboxWorld(t);
  await sql`alter table assay.requests rename to requests_away`;
  await sql`create function assay.refuse() returns trigger language plpgsql as $$ begin raise exception sqlstate '57P03'; end $$`;
  await sql`create trigger refuse before insert on assay.request_bodies execute function assay.refuse()`;
  await sql`alter table assay.requests_away rename to requests`;
  const reader = drain();
  const running = reader.run();
  await put(logEntryHead());
  await sleep(150);
  t.equal((await sql`select 1 from assay.requests`).length, 0);
  await sql`drop trigger refuse on assay.request_bodies`;
  while ((await sql`select 1 from assay.requests`).length === 0) await sleep(20);
  reader.stop();
  await running;
  t.equal((await sql`select 1 from assay.dead_letters`).length, 0);
});

t.test('the file of an entry is removed once it is old, though no other entry follows', async (t) => {
  const { sql, root, drain } = await outboxWorld(t);
  const { outbox, directory } = await openIn(root, { segmentAgeMs: 1_000 });
  const reader = drain();
  const running = reader.run();
  const entry = logEntry();
  await outbox.append({}, entry);
  const files = () => readdirSync(directory).filter((name) => name.endsWith('.log'));
  while (files().includes('0000000001.log')) await sleep(50);
  t.same(files(), ['0000000002.log']);
  t.equal((await sql`select 1 from assay.requests`).length, 1);
  await outbox.append({}, logEntry());
  while ((await sql`select 1 from assay.requests`).length === 1) await sleep(20);
  await outbox.close();
  reader.stop();
  await running;
});

t.test('partitions are created while queries run, and neither breaks the other', async (t) => {
  const { database, sql } = await outboxWorld(t);
  const reader = connectPostgres({
    url: database.url,
    max: 4,
    applicationName: 'reader',
    statementTimeoutMs: 5_000,
  });
  let isMaking = true;
  let queries = 0;
  // Locks the parents in an order other than that in which partitions are made.
  const query = async () => {
    while (isMaking) {
      await reader`
        select 1 from assay.request_scores s
          join assay.request_properties p using (organization_id, created_at, request_id)
          join assay.requests r using (organization_id, created_at, request_id)
          join assay.request_bodies b using (organization_id, created_at, request_id)`;
      queries += 1;
    }
  };
  const running = Promise.all([query(), query(), query(), query()]);
  for (let week = 0; week < 30; week += 1) {
    await sql`select assay.ensure_partitions('2020-01-01'::timestamptz + ${week}::int * interval '7 days')`;
  }
  isMaking = false;
  await t.resolves(running);
  await reader.end();
  t.ok(queries > 0);
});
