import t from 'tap';
import { inOrganization } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { walkRecords } from '../../../../../api/requests/export/batches.ts';
import type { Read } from '../../../../../api/requests/load.ts';
import { readQuery } from '../../../../../api/requests/query.ts';
import { startTestApi, type TestApi } from '../../../../support/api.ts';
import { parseCsv } from '../../../../support/parse-csv.ts';
import { connectAsApi } from '../../../../support/postgres.ts';
import { requestRecordFields } from '../../../../support/record-fields.ts';
import { generateRequests, insertRequests, type SeedRequest } from '../../../../support/seed-requests.ts';
import { organizationWith } from './organization.ts';

const PATH = '/v1/request/export';
const NOON = Date.UTC(2026, 4, 4, 12);
/** More than two windows of a walk, and more than five of its batches. */
const MANY = 11_000;

let api: TestApi;
/** An organization with many requests. */
let many: { organizationId: string; key: string; ids: string[] };
t.before(async () => {
  api = await startTestApi(t);
  const { sql } = api.database;
  const { organizationId, key } = await organizationWith(sql);
  await generateRequests(sql, { organizationId, count: MANY, endMs: Date.now() - 60_000 });
  // Requests of one moment: the id alone orders them, over the edge of a batch.
  await sql`update assay.requests set created_at = date_trunc('day', created_at)
    where organization_id = ${organizationId} and created_at < now() - interval '20 days'
      and date_trunc('week', date_trunc('day', created_at)) = date_trunc('week', created_at)`;
  const rows = await sql<{ request_id: string }[]>`
    select request_id from assay.requests where organization_id = ${organizationId} order by created_at, request_id`;
  many = { organizationId, key, ids: rows.map((row) => row.request_id) };
});

async function withRequests(rows: Partial<SeedRequest>[]): Promise<{ key: string; organizationId: string }> {
  const organization = await organizationWith(api.database.sql);
  await insertRequests(api.database.sql, organization.organizationId, rows);
  return organization;
}

type Line = Record<string, unknown> & { request_id: string; request_created_at: string };

async function exported(key: string, body: object): Promise<string> {
  const answer = await api.call(PATH, { key, body: { filter: 'all', format: 'ndjson', ...body } });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer.text;
}

function linesOf(text: string): Line[] {
  if (text !== '' && !text.endsWith('\n')) throw new Error('The last line has no end');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}

const idsOf = (text: string) => linesOf(text).map((line) => line.request_id);
const cursorOf = ({ request_created_at, request_id }: Line) => ({ request_created_at, request_id });

/** Requests with all that a record can show. */
const SOME: Partial<SeedRequest>[] = [
  {
    request_id: 'full',
    created_at: new Date(NOON),
    response_created_at: new Date(NOON + 1_234),
    user_id: '=cmd()',
    properties: { 'User-Tier': 'pro, "max"', Note: 'two\r\nlines' },
    response_id: 'chatcmpl-1',
    latency_ms: 1_234,
    ttft_ms: 321,
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 15,
    cost_nano: 1_234_567_891,
    prompt_id: '-p',
    prompt_version: '3',
    feedback_rating: true,
    scores: { helpful: -0.5, kind: 1 },
    inputs: { city: 'Oslo 😀' },
    request_text: '{"a":2}',
    request_raw: Buffer.from('{"a":1,"a":2,"n":12345678901234567890.10,"s":"\\ud800\\u0000"}'),
    response_text: '{"text":"a,\\"b\\"\\n"}',
  },
  { request_id: 'bare', created_at: new Date(NOON + 1), request_model: null, latency_ms: null },
];

t.test('an export as NDJSON has a record a line, as a query shows it without its bodies', async (t) => {
  const { key } = await withRequests(SOME);
  const text = await exported(key, {});
  const records = await api.query({ filter: 'all', sort: { created_at: 'asc' } }, key);
  const bare = records.map(({ request_body, response_body, ...rest }) => rest);
  t.strictSame(linesOf(text), bare);
  t.strictSame(
    Object.keys(linesOf(text)[0]!),
    requestRecordFields.filter((name) => !name.endsWith('_body')),
  );
});

t.test('an export with bodies has the very text of each record that a query has', async (t) => {
  const { key } = await withRequests(SOME);
  const text = await exported(key, { bodies: true, includeInputs: true });
  const query = { filter: 'all', sort: { created_at: 'asc' }, includeInputs: true };
  const answer = await api.call('/v1/request/query', { key, body: query });
  t.equal(`{"data":[${text.trimEnd().split('\n').join(',')}],"error":null}`, answer.text);
});

t.test('an export as CSV has a line of names, and a row for each record', async (t) => {
  const { key } = await withRequests(SOME);
  const answer = await api.call(PATH, {
    key,
    body: { filter: 'all', format: 'csv', bodies: true, includeInputs: true },
  });
  t.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8');
  const [names, ...rows] = parseCsv(answer.text);
  t.strictSame(names, [...requestRecordFields, 'inputs']);
  const [full, bare] = rows.map((row) => Object.fromEntries(row.map((cell, index) => [names![index], cell])));
  t.match(full, {
    request_id: 'full',
    request_created_at: '2026-05-04T12:00:00.000Z',
    request_body: SOME[0]!.request_raw!.toString(),
    request_user_id: "'=cmd()",
    request_properties: JSON.stringify({ Note: 'two\r\nlines', 'User-Tier': 'pro, "max"' }),
    response_body: '{"text":"a,\\"b\\"\\n"}',
    response_status: '200',
    delay_ms: '1234',
    cost: '1.234567891',
    prompt_id: "'-p",
    feedback_rating: 'true',
    scores: '{"helpful":-0.5,"kind":1}',
    inputs: '{"city":"Oslo 😀"}',
  });
  t.match(bare, { request_id: 'bare', request_model: '', cost: '', scores: '', properties: '{}' });
  const [plain] = parseCsv(await exported(key, { format: 'csv' }));
  t.strictSame(
    plain,
    requestRecordFields.filter((name) => !name.endsWith('_body')),
  );
});

t.test('an export has every record once, in order, also where many began in one moment', async (t) => {
  const ids = idsOf(await exported(many.key, {}));
  t.equal(ids.length, MANY);
  t.strictSame(ids, many.ids);
});

t.test('an export has exactly the records that pass its filter', async (t) => {
  const { sql } = api.database;
  const found = await sql<{ request_id: string }[]>`
    select request_id from assay.requests
    where organization_id = ${many.organizationId} and properties_folded ->> 'plan' = 'pro' and status <> 200
    order by created_at, request_id`;
  const filter = {
    left: { properties: { Plan: { equals: 'pro' } } },
    operator: 'and',
    right: { response: { status: { 'not-equals': 200 } } },
  };
  t.ok(found.length > 10);
  t.strictSame(
    idsOf(await exported(many.key, { filter })),
    found.map((row) => row.request_id),
  );
  const rare = { request: { body: { contains: 'Question 10007:' } } };
  t.equal(idsOf(await exported(many.key, { filter: rare })).length, 1);
  t.equal(await exported(many.key, { filter: { request: { user_id: { equals: 'nobody' } } } }), '');
  const scored = idsOf(await exported(many.key, { isScored: true }));
  const count = await api.call('/v1/request/count/query', {
    key: many.key,
    body: { filter: 'all', isScored: true },
  });
  t.equal(scored.length, count.body.data);
});

t.test('an export that goes on after any record has all that are behind it', async (t) => {
  const lines = linesOf(await exported(many.key, {}));
  for (const index of [0, 1_999, 2_000, 4_999, 5_000, 7_777, MANY - 1]) {
    const rest = idsOf(await exported(many.key, { after: cursorOf(lines[index]!) }));
    t.strictSame(rest, many.ids.slice(index + 1), `after record ${index}`);
  }
});

t.test('the parts of an export that was cut make the same file as one that was not', async (t) => {
  const { key, organizationId } = await withRequests(SOME);
  for (const format of ['ndjson', 'csv']) {
    const whole = await exported(key, { format, bodies: true });
    const after = { request_created_at: '2026-05-04T12:00:00.000Z', request_id: 'full' };
    const rest = await exported(key, { format, bodies: true, after });
    t.ok(rest.length > 0 && whole.endsWith(rest), format);
    t.ok(whole.length > rest.length + 100, format);
  }
  await api.database
    .sql`delete from assay.requests where organization_id = ${organizationId} and request_id = 'full'`;
  const after = { request_created_at: '2026-05-04T12:00:00.000Z', request_id: 'full' };
  t.strictSame(idsOf(await exported(key, { after })), ['bare'], 'also after a record that is gone');
});

t.test('an export has no records of the future, of other organizations, or of judges', async (t) => {
  const { key } = await withRequests([
    { request_id: 'past', created_at: new Date(Date.now() - 1_000) },
    { request_id: 'future', created_at: new Date(Date.now() + 60_000) },
    { request_id: 'judge', created_at: new Date(Date.now() - 1_000), source: 'evaluator' },
  ]);
  t.strictSame(idsOf(await exported(key, {})), ['past']);
  const nothing = await organizationWith(api.database.sql);
  t.equal(await exported(nothing.key, {}), '');
  t.equal(parseCsv(await exported(nothing.key, { format: 'csv' })).length, 1, 'the names alone');
});

t.test('an export needs a key with the scope read', async (t) => {
  const body = { filter: 'all', format: 'ndjson' };
  t.equal((await api.call(PATH, { key: null, body })).status, 401);
  const { key } = await organizationWith(api.database.sql, ['gateway']);
  t.equal((await api.call(PATH, { key, body })).status, 403);
});

t.test('a bad body is a 400 that names its field', async (t) => {
  const good = { filter: 'all', format: 'ndjson' };
  const cursor = { request_created_at: '2026-05-04T12:00:00.000Z', request_id: 'a' };
  const cases: [body: object, error: RegExp][] = [
    [{ format: 'ndjson' }, /^filter /],
    [
      { ...good, filter: { request: { nothing: { equals: 1 } } } },
      /^filter\.request\.nothing is not a field/,
    ],
    [{ filter: 'all' }, /^format is required/],
    [{ ...good, format: 'parquet' }, /^format must be one of "ndjson", "csv"/],
    [{ ...good, bodies: 'yes' }, /^bodies must be true or false/],
    [{ ...good, limit: 10 }, /^limit is not a known field/],
    [{ ...good, after: newRequestId() }, /^after must be an object/],
    [{ ...good, after: { request_id: 'a' } }, /^after\.request_created_at is required/],
    [{ ...good, after: { ...cursor, request_id: '' } }, /^after\.request_id must not be empty/],
    [
      { ...good, after: { ...cursor, request_created_at: 'noon' } },
      /^after\.request_created_at must be an RFC 3339/,
    ],
    [
      { ...good, after: { ...cursor, request_created_at: '0000-12-31T23:59:59Z' } },
      /in the years 0001 to 9999/,
    ],
    [{ ...good, after: { ...cursor, request_created_at: '9999-12-31T23:59:59-01:00' } }, /in the years 0001/],
    [{ ...good, after: { ...cursor, more: 1 } }, /^after\.more is not a known field/],
  ];
  for (const [body, error] of cases) {
    const answer = await api.call(PATH, { body });
    t.equal(answer.status, 400, JSON.stringify(body));
    t.match(answer.body.error, error);
  }
  const odd = { ...good, after: { ...cursor, request_id: 'a\0\ud800' } };
  t.equal((await api.call(PATH, { body: odd })).status, 200, 'NUL and half an emoji');
});

async function walkedIds(organizationId: string, read: Read, body: object): Promise<string[]> {
  const ids: string[] = [];
  const walk = walkRecords({
    organizationId,
    query: readQuery({ filter: 'all', ...body }),
    bodies: false,
    span: { after: null, until: { created_at: new Date(), request_id: null } },
    read,
    clock: systemClock,
  });
  for await (const rows of walk) ids.push(...rows.map((row) => row.request_id));
  return ids;
}

t.test('a window whose statement is cancelled for its time is tried again with fewer records', async (t) => {
  const sql = connectAsApi(api.database.url, { max: 1 });
  t.teardown(() => sql.end());
  let calls = 0;
  const read: Read = (work) => {
    calls += 1;
    if (calls === 2 || calls === 3)
      return Promise.reject(Object.assign(new Error('slow'), { code: '57014' }));
    return inOrganization(sql, many.organizationId, work);
  };
  t.strictSame(await walkedIds(many.organizationId, read, {}), many.ids);
});

t.test('of large records Postgres is asked for few more than it returns', async (t) => {
  const sql = connectAsApi(api.database.url, { max: 1 });
  t.teardown(() => sql.end());
  // Of which fourteen fit into a batch, and one alone does.
  const sizes = [
    ...Array.from({ length: 60 }, () => 300_000),
    5_000_000,
    ...Array.from({ length: 40 }, () => 10),
  ];
  const rows = sizes.map((size, index) => ({
    request_id: `large-${String(index).padStart(3, '0')}`,
    created_at: new Date(NOON + index),
    inputs: { text: 'x'.repeat(size) },
  }));
  const { organizationId } = await withRequests(rows);
  const asked: number[] = [];
  const read: Read = (work) =>
    inOrganization(sql, organizationId, (tx) => {
      const spied = new Proxy(tx, {
        get: (target, name) => {
          if (name !== 'unsafe') return Reflect.get(target, name);
          return (text: string, values: unknown[], options: object) => {
            const limit = / limit \$(\d+)/.exec(text)?.[1];
            if (text.includes('bytes_so_far')) asked.push(Number(values[Number(limit) - 1]));
            return target.unsafe(text, values as never, options);
          };
        },
      });
      return work(spied);
    });
  const ids = await walkedIds(organizationId, read, { includeInputs: true });
  t.strictSame(
    ids,
    rows.map((row) => row.request_id),
  );
  const [, ...later] = asked;
  const sum = later.reduce((total, count) => total + count, 0);
  t.ok(later.length > 4 && sum < 4 * rows.length, `${asked.join(', ')} of ${rows.length}`);
});
