import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { startTestApi } from '../../support/api.ts';
import { logEntryHead } from '../../support/log-entries.ts';
import { outboxWorld } from './outbox-world.ts';

const MIB = 1024 * 1024;

/** An outbox, ingest, and the management API over what it stores. */
async function setUp(t: Test) {
  const api = await startTestApi(t);
  const world = await outboxWorld(t, { database: api.database });
  return {
    ...world,
    api,
    head: (more = {}) => logEntryHead({ organizationId: api.own.organizationId, ...more }),
  };
}

const nested = (open: string, close: string, levels: number) => open.repeat(levels) + close.repeat(levels);
const manyKeys = Array.from({ length: 1_000_000 }, (_, key) => `"k${key}":${key}`).join(',');

/** Bodies by what is odd about them. Each is followed by `"mark":"<its number>"` where it is an object. */
const BODIES: Record<string, (mark: string) => string | Buffer> = {
  'NUL, escaped': (mark) => `{"a\\u0000":"x\\u0000y",${mark}}`,
  'lone surrogates, escaped': (mark) => `{"\\ud83d":"\\udc00 \\ud83d",${mark}}`,
  'a number beyond double precision': (mark) => `{"a":1e400000,"b":-1e400000,${mark}}`,
  'a number with 1,000,000 digits': (mark) => `{"a":${'9'.repeat(1_000_000)},${mark}}`,
  'a number with 10,000,000 digits': (mark) => `{"a":${'9'.repeat(10_000_000)},${mark}}`,
  'a string of 10,000,000 digits': (mark) => `{"a": "${'9'.repeat(10_000_000)}",${mark}}`,
  '100,000 levels of arrays': (mark) => `{"a":${nested('[', ']', 100_000)},${mark}}`,
  '100,000 levels of objects': (mark) =>
    `{"a":${nested('{"a":', '}', 100_000).replace(':}', ':0}')},${mark}}`,
  'invalid UTF-8': (mark) =>
    Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from(`",${mark}}`)]),
  'duplicate keys': (mark) => `{"a":1,"a":{"a":2,"a":3},${mark}}`,
  '1,000,000 keys': (mark) => `{${manyKeys},${mark}}`,
  '32 MiB in one string': (mark) => `{"a":"${randomBytes(16 * MIB - 100).toString('hex')}",${mark}}`,
  'names of the prototype': (mark) =>
    `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},${mark}}`,
  'a raw NUL, so no JSON': (mark) => `{"a":"\0",${mark}}`,
  'half of its JSON': (mark) => `{${mark},"a":[[[`,
  'a bare string': (mark) => JSON.stringify(`{${mark}}`),
};

/** Once is enough of these: each takes seconds. */
const LARGE = new Set([
  'a number with 10,000,000 digits',
  'a string of 10,000,000 digits',
  '1,000,000 keys',
  '32 MiB in one string',
]);

t.test('unusual bodies of every kind are stored, found and filtered', async (t) => {
  const { sql, api, put, ingest, head } = await setUp(t);
  const sent = Object.entries(BODIES).map(([what, bodyOf], index) => {
    const answerOf = LARGE.has(what) ? (mark: string) => `{${mark}}` : bodyOf;
    return {
      what,
      entryHead: head({ createdAtMs: Date.now() + index }),
      request: Buffer.from(bodyOf(`"mark":"request-${index}-","is":"here"`) as string),
      response: Buffer.from(answerOf(`"mark":"response-${index}-"`) as string),
    };
  });
  for (const { entryHead, request, response } of sent) await put(entryHead, request, response);
  await ingest();

  await t.test('random bodies are stored unchanged, and found by their text', async (t) => {
    t.same([...(await sql`select reason from assay.dead_letters`)], []);
    for (const [index, { what, entryHead, request, response }] of sent.entries()) {
      const [row] = await sql<{ request: Buffer; response: Buffer }[]>`
        select coalesce(request_raw, convert_to(request_text, 'UTF8')) as request,
               coalesce(response_raw, convert_to(response_text, 'UTF8')) as response
          from assay.request_bodies where request_id = ${entryHead.id}`;
      const kept = (stored: Buffer, given: Buffer) =>
        stored.equals(given) || JSON.parse(stored.toString()).text === given.toString();
      t.ok(
        row !== undefined && kept(row.request, request) && kept(row.response, response),
        `${what}: nothing is lost`,
      );
      // By its time first, so that not every search reads every body.
      for (const section of ['request', 'response']) {
        const found = await api.query({
          filter: {
            left: { request: { created_at: { equals: entryHead.createdAtMs } } },
            operator: 'and',
            right: { [section]: { body: { contains: `${section}-${index}-` } } },
          },
        });
        t.same(
          found.map((record) => record.request_id),
          [entryHead.id],
          `${what}: found in the ${section}`,
        );
      }
    }
    const found = await api.query({ filter: { request: { body: { contains: 'request-0-' } } } });
    t.same(
      found.map((record) => record.request_id),
      [sent[0]?.entryHead.id],
      'and searching all of them finds one',
    );
    t.equal(({} as { polluted?: unknown }).polluted, undefined);
  });

  await t.test(
    'a filter on a value inside bodies finds it in every unusual body that is valid JSON',
    async (t) => {
      const names = new Map(sent.map(({ what, entryHead }) => [entryHead.id, what]));
      const found = await api.query({ filter: { values: { 'request.is': { equals: 'here' } } }, limit: 100 });
      const expected = Object.keys(BODIES).filter(
        (what) => !['a raw NUL, so no JSON', 'half of its JSON', 'a bare string'].includes(what),
      );
      t.same(new Set(found.map((record) => names.get(String(record.request_id)))), new Set(expected));
    },
  );
});

t.test('unusual streamed answers are stored, and so are their neighbours', async (t) => {
  const { sql, put, ingest, head } = await setUp(t);
  const chunk = (delta: string) =>
    `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":${delta}}]}\n\n`;
  const streams = [
    chunk('{"content":"a\\u0000\\ud83d"}'),
    chunk(`{"content":"x","extra":${nested('[', ']', 100_000)}}`),
    chunk('{"content":1e400000}'),
    chunk('{"__proto__":{"polluted":1}}'),
    'data: {"choices":null}\n\ndata: 7\n\ndata: [[[\n\n',
    'data: '.repeat(100_000),
    `data: {"choices":[{"index":4294967295,"delta":{"content":"x"}},{"index":-1,"delta":{}},{"index":1e9,"delta":{"tool_calls":[{"index":1e9}]}}]}\n\n`,
    Buffer.concat([
      Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"'),
      Buffer.from([0xff]),
      Buffer.from('"}}]}\n\n'),
    ]),
    '\0'.repeat(1_000),
  ];
  for (const stream of streams)
    await put(head({ stream: true, contentType: 'text/event-stream' }), '{}', stream);
  await ingest();
  t.same([...(await sql`select reason from assay.dead_letters`)], []);
  t.equal((await sql`select response_text::jsonb from assay.request_bodies`).length, streams.length);
});

t.test('a record is stored whatever text its names and ids hold', async (t) => {
  const { sql, api, put, ingest, head } = await setUp(t);
  // Longer than an index of Postgres takes, and not to be compressed to less.
  const long = randomBytes(5_000).toString('hex');
  const odd = [long, '\0', '\ud83d', '', ' ', "'; drop table assay.requests; --"];
  const heads = odd.flatMap((text) => [
    head({ userId: text }),
    head({ promptId: text, experimentId: text }),
    head({ sessionId: text, sessionPath: text, sessionName: text }),
    head({ requestModel: text }),
    head({
      properties: [
        [text, text],
        [text, 'again'],
        ['__proto__', text],
      ],
    }),
  ]);
  for (const entryHead of heads) await put(entryHead);
  for (const text of odd) await put(head(), '{}', JSON.stringify({ id: text, model: text, usage: text }));
  await put(
    head(),
    '{}',
    JSON.stringify({ usage: { prompt_tokens: 1e300, completion_tokens: -1, total_tokens: 0.5 } }),
  );
  await put(
    head(),
    '{}',
    JSON.stringify({ usage: { prompt_tokens: 3e9, completion_tokens: 3e9, total_tokens: 6e9 } }),
  );
  await ingest();
  t.same([...(await sql`select reason, request_id from assay.dead_letters`)], []);
  const found = await api.query({ filter: { request: { user_id: { equals: '\0' } } } });
  t.equal(found.length, 2, 'and found by it: Postgres has U+FFFD for NUL and for a lone surrogate');
});

t.test('an entry with an invalid head becomes a dead letter, and the others are stored', async (t) => {
  const { sql, put, ingest, head } = await setUp(t);
  const year = (text: string) => Date.parse(text);
  const bad = [
    'not json',
    { ...head(), v: 2 },
    { ...head(), createdAtMs: year('+294000-01-01T00:00:00Z') },
    { ...head(), createdAtMs: year('9000-01-01T00:00:00Z') },
    { ...head(), createdAtMs: year('1999-12-31T00:00:00Z') },
    { ...head(), createdAtMs: Date.now() + 60 * 86_400_000 },
    { ...head(), createdAtMs: -1 },
    { ...head(), createdAtMs: -1e15 },
    { ...head(), createdAtMs: 1e300 },
    { ...head(), answeredAtMs: 1e300 },
    { ...head(), latencyMs: -1e300 },
  ];
  const good = [];
  for (const entryHead of bad) {
    await put(entryHead, '{"kept":true}');
    const next = head();
    good.push(next.id);
    await put(next);
  }
  await ingest();
  const stored = await sql`select request_id from assay.requests`;
  t.same(new Set(stored.map((row) => row.request_id)), new Set(good));
  const letters = await sql`select reason, entry from assay.dead_letters order by dead_letter_id`;
  t.equal(letters.length, bad.length);
  t.ok(letters.every(({ entry }) => entry.includes('{"kept":true}')));
  t.match(
    letters[3]?.reason,
    'created_at must lie between 2020-01-01 and four weeks from now, but is 9000-01-01',
  );
  const [weeks] =
    await sql`select count(*)::int from pg_inherits where inhparent = 'assay.requests'::regclass`;
  t.equal(weeks?.count, 1, 'no partition was made for any of them');
});

t.test('entries wait while an operator has a table away, and none becomes a dead letter', async (t) => {
  const { sql, put, ingest, head } = await setUp(t);
  const entry = head();
  await put(entry);
  await sql`alter table assay.requests rename to requests_elsewhere`;
  await ingest();
  t.same([...(await sql`select reason from assay.dead_letters`)], []);
  await sql`alter table assay.requests_elsewhere rename to requests`;
  await ingest();
  t.same([...(await sql`select request_id from assay.requests`)], [{ request_id: entry.id }]);
});
