/** The columns of rows, and that none of them is read from a body. */
import t from 'tap';
import { DEFAULT_ROW_COLUMNS, ROW_COLUMNS } from '#core/contracts/rows.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { insertRequests } from '../../../support/seed-requests.ts';
import { insertEvaluations } from '../evaluators/seed-evaluations.ts';

const NOON = Date.UTC(2026, 4, 4, 12);

let api: TestApi;
let keyId: string;
t.before(async () => {
  api = await startTestApi(t);
  const { sql } = api.database;
  const [key] = await sql<{ key_id: string }[]>`
    select key_id from assay.api_keys where organization_id = ${api.own.organizationId}`;
  keyId = key!.key_id;
  await insertRequests(sql, api.own.organizationId, [
    {
      request_id: 'full',
      created_at: new Date(NOON),
      response_created_at: new Date(NOON + 1_234),
      status: 200,
      user_id: 'ada',
      session_id: 's',
      session_name: 'a session',
      session_path: '/agent',
      response_id: 'chatcmpl-1',
      latency_ms: 1_234,
      ttft_ms: 321,
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      cost_nano: 1_234_567_891,
      prompt_id: 'p',
      prompt_version: '3',
      experiment_id: 'x',
      cached_from: 'another',
      feedback_rating: false,
      scores: { helpful: 0.5, 'odd "key"': 1 },
      properties: { 'User-Tier': 'pro', long: 'é'.repeat(10_000) },
      preview_in: 'What is "this"?\u0001😀',
      preview_out: 'A test',
    },
    {
      request_id: 'bare',
      created_at: new Date(NOON - 1),
      request_model: null,
      response_model: null,
      latency_ms: null,
    },
  ]);
  await sql`update assay.requests set api_key_id = ${keyId} where request_id = 'full'`;
});

type Row = Record<string, unknown>;

async function rowsOf(columns?: string[]): Promise<Row[]> {
  const body = { filter: 'all', ...(columns === undefined ? {} : { columns }) };
  const answer = await api.call('/v1/request/rows', { body });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return (answer.body.data as { rows: Row[] }).rows;
}

t.test('a row has every column of the request itself unless some are named', async (t) => {
  const [full, bare] = await rowsOf();
  t.strictSame(Object.keys(full!), ['request_id', ...DEFAULT_ROW_COLUMNS]);
  t.strictSame(full, {
    request_id: 'full',
    request_created_at: '2026-05-04T12:00:00.000Z',
    source: 'gateway',
    request_path: '/v1/chat/completions',
    provider: 'OPENAI',
    model: 'gpt-4o-mini-2024-07-18',
    request_model: 'gpt-4o-mini',
    response_model: 'gpt-4o-mini-2024-07-18',
    response_id: 'chatcmpl-1',
    response_created_at: '2026-05-04T12:00:01.234Z',
    response_status: 200,
    error_code: null,
    delay_ms: 1_234,
    time_to_first_token: 321,
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 15,
    usage_estimated: false,
    cost: 1.234567891,
    is_stream: true,
    truncated: false,
    cached_from: 'another',
    api_key_id: keyId,
    request_user_id: 'ada',
    session_id: 's',
    session_name: 'a session',
    session_path: '/agent',
    prompt_id: 'p',
    prompt_version: '3',
    experiment_id: 'x',
    feedback_rating: false,
    preview_in: 'What is "this"?\u0001😀',
    preview_out: 'A test',
  });
  t.match(bare, { request_id: 'bare', cost: null, delay_ms: null, request_model: null, preview_in: null });
});

t.test('columns come in the order asked for, each once, with properties and scores by name', async (t) => {
  const columns = [
    'score:helpful',
    'property:USER-tier',
    'model',
    'model',
    'request_id',
    'score:odd "key"',
    'score:none',
    'property:none',
    'scores',
  ];
  const [full, bare] = await rowsOf(columns);
  t.strictSame(Object.entries(full!), [
    ['request_id', 'full'],
    ['score:helpful', 0.5],
    ['property:USER-tier', 'pro'],
    ['model', 'gpt-4o-mini-2024-07-18'],
    ['score:odd "key"', 1],
    ['score:none', null],
    ['property:none', null],
    ['scores', { helpful: 0.5, 'odd "key"': 1 }],
  ]);
  t.match(bare, { 'score:helpful': null, 'property:USER-tier': null, scores: null });
  t.strictSame(await rowsOf(['request_id']), [{ request_id: 'full' }, { request_id: 'bare' }]);
});

t.test('a long text in a row is cut to 1,000 characters', async (t) => {
  const [full] = await rowsOf(['property:long']);
  t.equal(full!['property:long'], 'é'.repeat(1_000));
});

t.test('odd names of properties and scores find nothing and break nothing', async (t) => {
  const names = ['\0', '\ud800', '😀', "'; drop table assay.requests; --", '__proto__', 'n'.repeat(200)];
  const columns = names.flatMap((name) => [`property:${name}`, `score:${name}`]);
  const [full] = await rowsOf(columns);
  t.ok(Object.entries(full!).every(([name, value]) => name === 'request_id' || value === null));
});

t.test('a row tells the prefix of its key and its evaluations without an outcome', async (t) => {
  const evaluator = await api.database.sql<{ evaluator_id: string }[]>`
    insert into assay.evaluators (organization_id, name, score_key, scoring_type, created_at, updated_at)
    values (${api.own.organizationId}, 'E', 'e', 'LLM-BOOLEAN', now(), now()) returning evaluator_id`;
  const of = { evaluator_id: evaluator[0]!.evaluator_id, request_id: 'full', created_at: new Date(NOON) };
  await insertEvaluations(api, [
    { ...of, state: 'pending' },
    { ...of, state: 'running', probe: 'repeat' },
    { ...of, state: 'completed', probe: 'order' },
  ]);
  const [full, bare] = await rowsOf(['api_key_prefix', 'evaluations_pending']);
  t.match(full, { api_key_prefix: api.own.key.slice(0, 12), evaluations_pending: 2 });
  t.match(bare, { api_key_prefix: null, evaluations_pending: 0 });
});

t.test('rows are read without any access to bodies', async (t) => {
  const { sql } = api.database;
  await sql`revoke select on assay.request_bodies from assay_api`;
  try {
    const columns = [...ROW_COLUMNS, 'property:plan', 'score:helpful'];
    const PLACES = [
      {},
      { around: 'full' },
      { around: 'newest', sort: { cost: 'asc' } },
      { sort: { latency: 'asc' } },
    ];
    const FILTERS = [
      'all',
      { properties: { plan: { equals: 'x' } } },
      { scores: { helpful: { gte: 0 } } },
      { response: { status: { gte: 400 } } },
    ];
    for (const place of PLACES) {
      for (const filter of FILTERS) {
        const { status } = await api.call('/v1/request/rows', { body: { filter, columns, ...place } });
        t.equal(status, 200, JSON.stringify({ filter, ...place }));
      }
    }
    t.equal(
      (await api.call('/v1/request/query', { body: { filter: 'all' } })).status,
      500,
      'the right is gone',
    );
  } finally {
    await sql`grant select on assay.request_bodies to assay_api`;
  }
});
