import t from 'tap';
import { buildRecord } from '../../../ingest/build-record.ts';
import { ensurePartitions } from '../../../ingest/partitions.ts';
import { insertNewRecords, insertRecords } from '../../../ingest/statements.ts';
import { logEntry } from '../../support/log-entries.ts';
import { databaseFor } from '../../support/world.ts';

const { sql } = await databaseFor(t);
await ensurePartitions(sql, [new Date()]);

t.test('every inserted value is read back unchanged, whatever it holds, alone and in a batch', async (t) => {
  const odd = [
    '',
    ' ',
    'null',
    'NULL',
    '{}',
    '"',
    '\\',
    "'",
    '\n\r\t',
    '\x1f',
    '\x1e',
    '\x01\x7f',
    '{"a",b}',
    'é😀',
  ];
  const records = odd.map((text) => {
    const record = buildRecord(
      logEntry(
        { userId: text, requestModel: text, sessionName: text, promptId: null, properties: [[text, text]] },
        { request: { text }, response: { id: text, text } },
      ),
    );
    const raw = Buffer.from(text);
    return { ...record, bodies: { ...record.bodies, request_raw: raw, response_raw: null } };
  });
  for (const batch of [records.slice(0, 1), records.slice(1)]) {
    t.same(await sql.begin((tx) => insertNewRecords(tx, batch)), batch);
  }
  for (const { request, bodies, propertyHashes } of records) {
    const [row] = await sql`
      select * from assay.requests join assay.request_bodies using (organization_id, created_at, request_id)
       where request_id = ${request.request_id}`;
    const expected = {
      ...request,
      ...bodies,
      cost_nano: request.cost_nano === null ? null : String(request.cost_nano),
      request_properties: JSON.parse(request.request_properties!),
      properties_folded: JSON.parse(request.properties_folded),
    };
    for (const [name, value] of Object.entries(expected)) t.same(row![name], value, name);
    const hashes = await sql`
      select pair_hash from assay.request_properties where request_id = ${request.request_id}`;
    t.same(
      hashes.map((property) => property.pair_hash),
      propertyHashes.map(String),
    );
  }
});

t.test('an existing record stays unchanged, and the others of the batch are stored', async (t) => {
  const make = (id: string, userId: string) =>
    buildRecord(logEntry({ id, userId, createdAtMs: 1_790_000_000_000, properties: [['a', userId]] }));
  await ensurePartitions(sql, [new Date(1_790_000_000_000)]);
  await sql.begin((tx) => insertNewRecords(tx, [make('first', 'ada')]));
  const batch = [make('first', 'eve'), make('second', 'bob'), make('second', 'eve')];
  await t.rejects(
    sql.begin((tx) => insertNewRecords(tx, batch)),
    { code: '23505' },
    'records taken for new are refused',
  );
  t.same(await sql.begin((tx) => insertRecords(tx, batch)), [batch[1]], 'only the new one is returned, once');
  const rows = await sql`
    select request_id, user_id from assay.requests where request_id in ('first', 'second') order by request_id`;
  t.same(
    [...rows],
    [
      { request_id: 'first', user_id: 'ada' },
      { request_id: 'second', user_id: 'bob' },
    ],
  );
});

t.test(
  'the scores of an entry are stored once, and a redelivery does not undo a change of them',
  async (t) => {
    const createdAtMs = 1_790_000_000_000;
    const scored = buildRecord(logEntry({ id: 'scored', createdAtMs, scores: { a: 0.25, b: 1 } }));
    await ensurePartitions(sql, [new Date(createdAtMs)]);
    await sql.begin((tx) => insertNewRecords(tx, [scored]));
    const begunAt = Date.now();
    await sql`update assay.request_scores set value = 9 where request_id = 'scored' and key = 'b'`;
    await sql.begin((tx) => insertRecords(tx, [scored]));
    const rows = await sql`
    select key, value, updated_at from assay.request_scores where request_id = 'scored' order by key`;
    t.match(
      [...rows],
      [
        { key: 'a', value: 0.25 },
        { key: 'b', value: 9 },
      ],
    );
    t.ok(Math.abs(rows[0]!.updated_at.getTime() - begunAt) < 60_000, 'the time is that of storing');
  },
);
