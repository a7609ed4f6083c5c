/**
 * The programs of examples/, run as their comments say against all roles, with the demo's provider behind them: what each
 * prints, and the record or score that is there afterwards.
 */
import t, { type Test } from 'tap';
import { createMetrics } from '#platform/observability/metrics.ts';
import { systemClock } from '#platform/process/clock.ts';
import { startDemoProvider } from '../../../scripts/demo/provider.ts';
import { startSinks } from '../../../sinks/mod.ts';
import { rowsOf } from '../../support/markdown-tables.ts';
import { insertRequests } from '../../support/seed-requests.ts';
import { configOf, createWorld, silentLog } from '../../support/world.ts';
import { listExamples, openAiIsMissing, readExample, runExample } from './run-example.ts';

type Json = Record<string, unknown>;
/** What a program has printed, and how to read what it left. */
type Run = { stdout: string; api: <T = Json>(path: string, body?: unknown) => Promise<T> };
type Check = (t: Test, run: Run) => Promise<void>;

/** Each has its own user, property or evaluator, and knows its own records. */
const PROGRAMS_AT_ONCE = 3;
/** More than a page of 100 records. */
const EXPENSIVE_CALLS = 103;
const HAIKU = 'Each call leaves a trace\nquiet rows fill the table\nnothing slips away';
const ID = '[0-9A-HJKMNP-TV-Z]{26}';

const idIn = (stdout: string) => new RegExp(`^(?:Logged as )?(${ID})$`, 'm').exec(stdout)?.[1];
const recordOf = ({ stdout, api }: Run) => api(`/v1/request/${idIn(stdout)}`);

/** Property names ignore case, and clients may have lower-cased them. */
const planOf = (record: Json) => new Headers(record.properties as Record<string, string>).get('plan');

const CHECKS: Readonly<Record<string, Check>> = {
  'first-call.sh': async (t, { stdout }) => {
    const [completion, found] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    t.match(completion, { object: 'chat.completion' });
    t.equal(found.data.length, 1);
    t.match(found.data[0], { request_properties: { Feature: 'capitals' }, response_status: 200 });
    t.same(found.data[0].response_body, completion);
  },
  'openai-client.mjs': async (t, run) => {
    t.equal(run.stdout.slice(0, HAIKU.length + 1), `${HAIKU}\n`);
    const record = await recordOf(run);
    t.match(record, { request_user_id: 'ada', request_body: { stream: true }, response_status: 200 });
    t.equal(planOf(record), 'pro');
    t.type(record.time_to_first_token, 'number');
  },
  'openai-client.py': async (t, run) => {
    t.match(run.stdout, new RegExp(`^${HAIKU}\n24 tokens\nLogged as ${ID}\n$`));
    const record = await recordOf(run);
    t.match(record, { request_user_id: 'ada', total_tokens: 24, response_status: 200 });
    t.equal(planOf(record), 'pro');
  },
  'anthropic-client.mjs': async (t, run) => {
    t.match(run.stdout, new RegExp(`^gpt-4o-mini: ${HAIKU}\n6 tokens in, 18 out\nLogged as ${ID}\n$`));
    const record = await recordOf(run);
    t.match(record, { request_path: '/v1/messages', provider: 'OPENAI', total_tokens: 24 });
  },
  'find-expensive-calls.mjs': async (t, { stdout }) => {
    const lines = stdout.trim().split('\n');
    t.equal(lines.length, EXPENSIVE_CALLS + 1, 'all pages, and the sum');
    t.match(lines[0], /^1\.030000 .*Z gpt-4o-mini ada /, 'the dearest call is the first');
    t.match(lines.at(-2), /^0\.010001 /);
    t.equal(lines.at(-1), '103 calls, 53.560001 USD');
    t.equal(new Set(lines).size, lines.length, 'no call twice');
  },
  'rate-an-answer.mjs': async (t, run) => {
    t.match(run.stdout, /\ntrue { accuracy: 0\.9, polite: 1 } { 'Reviewed-By': 'ada' }\n$/);
    t.match(await recordOf(run), {
      feedback_rating: true,
      scores: { accuracy: 0.9, polite: 1 },
      properties: { 'Reviewed-By': 'ada' },
    });
  },
  'judge.mjs': async (t, { stdout, api }) => {
    t.match(stdout, /state: 'completed',\s+score: 1,\s+reasoning: "The demo's provider is content/);
    const filter = { scores: { polite_example_: { equals: 1 } } };
    const scored = await api<Json[]>('/v1/request/query', { filter });
    t.equal(scored.length, 1, 'one call has the score, and the judge did not judge itself');
    t.match(scored[0]?.request_body, { messages: [{ content: 'Where is my refund?' }] });
    t.same(await api('/v1/evaluator/query', { name: 'Polite (example)' }), [], 'the evaluator is gone');
  },
  'python-evaluator.py': async (t, { stdout, api }) => {
    t.match(stdout, /^would score {'matching': \d+, 'already_scored': 0, 'estimated_cost_usd': 0}\n/);
    t.match(stdout, /\ncompleted completed: 20 skipped: 0 failed: 0\nmean [\d.]+\n$/);
    const filter = { scores: { words_example_: { gt: 0 } } };
    t.equal(await api('/v1/request/count/query', { filter }), 20);
    t.same(await api('/v1/evaluator/query', { name: 'Words (example)' }), [], 'the evaluator is gone');
  },
  'limit-each-user.mjs': async (t, { stdout, api }) => {
    t.match(
      stdout,
      /^ada: 1 left\nada: 0 left\nada: over the limit, try again in \d+ seconds\nbob: 1 left\n$/,
    );
    const filter = { response: { status: { equals: 429 } } };
    t.match(await api('/v1/request/query', { filter }), [{ request_user_id: 'ada' }]);
  },
  'fallback-and-cache.sh': async (t, { stdout }) => {
    t.equal([...stdout.matchAll(/^HTTP\/1\.1 200/gm)].length, 3);
    t.match(stdout, /^service-fallback-index: 1\r$/m);
    const states = [...stdout.matchAll(/^service-cache: (\w+)\r$/gm)].map(([, state]) => state);
    t.same(states, ['MISS', 'HIT']);
  },
  'log-a-call-made-elsewhere.py': async (t, run) => {
    t.match(
      run.stdout,
      /\nprovider OPENAI\nmodel gpt-4o-mini\ntotal_tokens 10\ncost 2\.4e-06\ndelay_ms 700\n$/,
    );
    t.match(await recordOf(run), {
      request_user_id: 'ada',
      response_body: { choices: [{ message: { content: 'Hi' } }] },
    });
  },
  'follow-a-session.mjs': async (t, { stdout, api }) => {
    const [totals, ...turns] = stdout.trim().split('\n');
    t.match(totals, /^Oslo: 2 requests, [1-9]\d* tokens$/);
    const turn = (text: string) => `/planner [${text}] You said: ${text}`;
    t.same(turns, [turn('Plan a day in Oslo'), turn('And in the evening?')], 'each text once');
    const filter = { request: { session_path: { equals: '/planner' } } };
    t.equal(await api('/v1/request/count/query', { filter }), 2);
  },
  'stored-prompt.mjs': async (t, { stdout }) => {
    const [first, second] = stdout.trim().split('\n');
    t.equal(first, '1.0 You help customers of Acme.');
    t.equal(second, '1.1 You help customers of Acme in 3 sentences.');
  },
  'export-a-week.py': async (t, { stdout }) => {
    const [, calls, cost] = /^gpt-4o-mini: (\d+) calls, ([\d.]+) USD$/m.exec(stdout) ?? [];
    t.ok(Number(calls) >= EXPENSIVE_CALLS, 'the expensive calls are among them');
    t.ok(Number(cost) >= 53.56, 'and their cost');
  },
  'receive-webhooks.mjs': async (t, { stdout }) => {
    t.equal(stdout, 'received webhook.test {"message":"This is a test"}\n');
  },
  'receive-webhooks.py': async (t, { stdout }) => {
    t.equal(stdout, 'received webhook.test\n');
  },
  'mcp-client.mjs': async (t, { stdout }) => {
    t.match(stdout, /^post_request_query$/m);
    const { data } = JSON.parse(/^\{"data".*$/m.exec(stdout)?.[0] ?? '');
    t.match(data, [{ response_status: 200 }, { response_status: 200 }]);
  },
};

const BODIES = {
  request_text: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] }),
  response_text: JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'Hi' } }] }),
};
const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');

/** Starts all roles, with more expensive calls in the log than one page holds. */
async function setUp(t: Test) {
  const world = await createWorld(t);
  const provider = await startDemoProvider();
  t.teardown(() => provider.stop());
  const { organizationId, keyWith } = await world.organization({ tier: 'enterprise' });
  const KEY = await keyWith(['gateway', 'read', 'write']);
  const seeds = Array.from({ length: EXPENSIVE_CALLS }, (_, index) => ({
    user_id: 'ada',
    model: 'gpt-4o-mini',
    ...BODIES,
    created_at: new Date(Date.now() - 60_000 - index),
    // The cheapest one is only just above 0.01 USD.
    cost_nano: index === 0 ? 10_001_000 : (index + 1) * 10_000_000,
  }));
  const atLimit = { created_at: new Date(Date.now() - 60_000), cost_nano: 10_000_000, ...BODIES };
  await insertRequests(world.sql, organizationId, [...seeds, atLimit]);

  const settings = {
    OPENAI_API_KEY: 'sk-operator',
    OPENAI_BASE_URL: provider.url,
    SECRET_KEY,
    OUTBOUND_ALLOW: '127.0.0.1',
  };
  // Stopped last, and on the data directory of those that write.
  const { dataDir: DATA_DIR } = await world.start('ingest', settings);
  const sinks = startSinks({
    config: configOf({ ...settings, DATA_DIR, DATABASE_URL: world.database.url }),
    log: silentLog,
    clock: systemClock,
    metrics: createMetrics('sinks'),
  });
  t.teardown(() => sinks.stop());
  const [gateway, api] = await Promise.all([
    world.start('gateway', { ...settings, DATA_DIR }),
    world.start('api', { ...settings, DATA_DIR }),
  ]);
  await world.start('evaluators', { ...settings, DATA_DIR, GATEWAY_URL: gateway.url });
  return { KEY, GATEWAY: gateway.url, API: api.url };
}

t.test(
  'every program of examples/ has a test, a row in the table, and a comment that says what it is',
  async (t) => {
    const programs = listExamples().sort();
    t.same(Object.keys(CHECKS).sort(), programs);
    const listed = rowsOf(readExample('README.md'), 'program').map(
      ([cell]) => /\]\((.*)\)/.exec(cell ?? '')?.[1],
    );
    t.same(listed.sort(), programs);
    for (const name of programs) {
      const text = readExample(name);
      t.match(text, /^(?:#!\/bin\/sh\n)?(?:#|\/\/) [A-Z].*\n/, `${name} says what it shows`);
      t.match(text, /^(?:#|\/\/) Prints: /m, `${name} says what it prints`);
      t.ok(text.trimEnd().split('\n').length <= 40, `${name} is read in a minute`);
    }
  },
);

t.test('the programs of examples/ print what their comments say', async (t) => {
  const environment = await setUp(t);
  const api: Run['api'] = async (path, body) => {
    const response = await fetch(environment.API + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${environment.KEY}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { data, error } = (await response.json()) as { data: never; error: string | null };
    if (error !== null) throw new Error(`${path}: ${error}`);
    return data;
  };
  const withoutOpenAi = await openAiIsMissing();
  const test = ([name, check]: [string, Check]) => {
    const skip = name === 'openai-client.py' && withoutOpenAi;
    return t.test(name, { skip, buffered: true }, async (t) => {
      const { status, stdout, stderr } = await runExample(name, environment);
      t.equal(status, 0, stderr);
      await check(t, { stdout, api });
    });
  };
  t.jobs = PROGRAMS_AT_ONCE;
  await Promise.all(Object.entries(CHECKS).map(test));
  t.same(await api('/v1/webhook'), [], 'the webhooks of both receivers are gone');
});
