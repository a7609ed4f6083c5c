/** `q`, a filter as text, at every endpoint that takes a filter. */
import t from 'tap';
import { type EvaluatorApi, PYTHON, startEvaluatorApi } from '../../../support/evaluators-process.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

const Q = 'status:>=500 user:anna';
const FILTER = {
  left: { response: { status: { gte: 500 } } },
  operator: 'and',
  right: { request: { user_id: { equals: 'anna' } } },
};

let api: EvaluatorApi;
let evaluatorId: string;
t.before(async () => {
  api = await startEvaluatorApi(t);
  const at = (seconds: number) => new Date(Date.UTC(2026, 4, 4, 12, 0, seconds));
  const session = { session_id: 'one', session_path: '/', session_name: 'Chat' };
  await insertRequests(api.database.sql, api.own.organizationId, [
    { request_id: 'a', created_at: at(1), status: 500, user_id: 'anna', ...session },
    { request_id: 'b', created_at: at(2), status: 200, user_id: 'anna', ...session, session_name: 'Talk' },
    { request_id: 'c', created_at: at(3), status: 503, user_id: 'bot', latency_ms: null },
    {
      request_id: 'd',
      created_at: at(4),
      status: 503,
      user_id: null,
      response_text: '{"text":"No REFUND 😀"}',
    },
  ]);
  await insertRequests(api.database.sql, api.other.organizationId, [{ status: 500, user_id: 'anna' }]);
  ({ id: evaluatorId } = await api.make('/v1/evaluator', { name: 'Scores', ...PYTHON }));
});

const path = () => `/v1/evaluator/${evaluatorId}`;
const WHERE: [what: string, path: () => string, body: object][] = [
  ['a query', () => '/v1/request/query', {}],
  ['an analytics query', () => '/v1/request/query-clickhouse', {}],
  ['a count', () => '/v1/request/count/query', {}],
  ['an export', () => '/v1/request/export', { format: 'ndjson' }],
  ['a count of what would be deleted', () => '/v1/request/delete', { dryRun: true }],
  ['a query of sessions', () => '/v1/session/query', {}],
  ['a query of the names of sessions', () => '/v1/session/name/query', {}],
  ['distributions over sessions', () => '/v1/session/metrics/query', {}],
  ["users' metrics", () => '/v1/user/metrics/query', {}],
  ['a dry run', () => `${path()}/run`, { dryRun: true }],
];

for (const [what, path, body] of WHERE) {
  t.test(`${what} takes a filter as text and answers as for the same filter as JSON`, async (t) => {
    const [text, json, all] = await Promise.all([
      api.call(path(), { body: { ...body, q: Q } }),
      api.call(path(), { body: { ...body, filter: FILTER } }),
      api.call(path(), { body: { ...body, q: '' } }),
    ]);
    t.equal(text.status, 200, text.text);
    t.equal(text.text, json.text);
    t.not(text.text, all.text, 'and other than for all');
    for (const [given, sentence] of [
      [{ q: Q, filter: FILTER }, 'q and filter exclude each other: send one of them'],
      [{ q: 'status:x' }, 'q at offset 7, length 1 ("x"): status must be a number, but is "x"'],
      [{ q: 5 }, 'q must be a string, but is 5'],
      [{ q: null }, 'q must be a string, but is null'],
      [{ q: 'a'.repeat(65_537) }, 'q must have at most 65536 characters, but has 65537'],
    ] as const) {
      const { status, body: answer } = await api.call(path(), { body: { ...body, ...given } });
      t.strictSame([status, answer.error], [400, sentence]);
    }
  });
}

const idsOf = async (q: string) => (await api.query({ q })).map(({ request_id }) => request_id).sort();

t.test('a text finds what it says, also with odd characters and missing values', async (t) => {
  t.strictSame(await idsOf(Q), ['a']);
  t.strictSame(await idsOf('-(status:>=500 user:anna)'), ['b', 'c', 'd']);
  t.strictSame(await idsOf('-user:anna'), ['c', 'd'], 'without a user, too');
  t.strictSame(await idsOf('-latency:>10ms'), ['c'], 'without a latency, too');
  t.strictSame(await idsOf('-model:gpt-4o-m*'), []);
  t.strictSame(await idsOf('refund'), ['d'], 'in a body, ignoring case');
  t.strictSame(await idsOf('"😀"'), ['d']);
  t.strictSame(await idsOf('anna OR c'), ['a', 'b', 'c'], 'as a user, as an id');
  t.strictSame(await idsOf('"\u0000" OR "\ud800" OR %_'), [], 'what no store can hold');
  t.strictSame(await idsOf(`user:(anna OR "${'x'.repeat(10_000)}")`), ['a', 'b']);
  t.strictSame(await idsOf('created:2026-05-04T12:00:02Z..2026-05-04T12:00:04Z'), ['b', 'c']);
  t.strictSame(await idsOf('*'), ['a', 'b', 'c', 'd']);
  t.strictSame(await idsOf('-*'), []);
});

t.test('requests are found by their source; the calls of judges are in no list', async (t) => {
  const { sql } = api.database;
  const sources = ['gateway', 'playground', 'api', 'evaluator'];
  await insertRequests(
    sql,
    api.own.organizationId,
    sources.map((source) => ({ request_id: `from ${source}`, source, user_id: 'source' })),
  );
  t.strictSame(await idsOf('user:source source:playground'), ['from playground']);
  t.strictSame(await idsOf('user:source source:(api OR playground)'), ['from api', 'from playground']);
  t.strictSame(await idsOf('user:source -source:gateway'), ['from api', 'from playground']);
  t.strictSame(await idsOf('source:evaluator'), []);
  await sql`delete from assay.requests where user_id = 'source'`;
});

t.test('a run and an online evaluator store the filter that their text stands for', async (t) => {
  t.match(await api.make(`${path()}/run`, { q: Q }), { filter: FILTER });
  const online = await api.make(`${path()}/onlineEvaluators`, { config: { sampleRate: 1, q: Q } });
  t.match(online, { config: { filter: FILTER } });
  for (const [config, sentence] of [
    [{ q: 'x', filter: 'all' }, 'config.q and config.filter exclude each other: send one of them'],
    [{ q: 'x:' }, /^config\.q at offset 0, length 1 \("x"\): is not a field/],
    [{ q: null }, 'config.q must be a string, but is null'],
  ] as const) {
    const { status, body } = await api.call(`${path()}/onlineEvaluators`, {
      body: { config: { sampleRate: 1, ...config } },
    });
    t.equal(status, 400);
    t.match(body.error, sentence);
  }
  t.match(await api.make(`${path()}/onlineEvaluators`, { config: { sampleRate: 1, q: Q, filter: null } }), {
    config: { filter: FILTER },
  });
});

t.test('a deletion by a text without a condition must be confirmed, and stores its filter', async (t) => {
  const remove = (body: object) => api.call('/v1/request/delete', { body });
  for (const q of ['', '*', '* OR user:anna']) {
    const { status, body } = await remove({ q });
    t.equal(status, 400, q);
    t.match(body.error, /^q has no condition, so every request would be deleted: send "confirm": "all"/);
  }
  t.match(await remove({ q: Q, confirm: 'all' }), { status: 400, body: { error: /but q has one$/ } });
  const { body } = await remove({ q: 'user:nobody' });
  const { id } = body.data as { id: string };
  const [job] = await api.database.sql<{ filter: unknown; state: string }[]>`
    select filter, state from assay.erasure_jobs where job_id = ${id}`;
  // The filter of a deletion that has ended is forgotten.
  const stored = job!.state === 'completed' ? null : { request: { user_id: { equals: 'nobody' } } };
  t.strictSame(job!.filter, stored);
});

t.test('every record has the values whose missing the filters leave out of account', async (t) => {
  // core/filter/leaf.ts turns the complement of an order of these into the opposite order.
  const columns = await api.database.sql<{ column_name: string; is_nullable: string }[]>`
    select column_name, is_nullable from information_schema.columns
     where table_schema = 'assay' and table_name = 'requests'
       and column_name in ('created_at', 'status', 'request_id') order by 1`;
  t.strictSame(
    columns.map((column) => ({ ...column })),
    ['created_at', 'request_id', 'status'].map((column_name) => ({ column_name, is_nullable: 'NO' })),
  );
});
