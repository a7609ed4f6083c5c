/** Calls that may be answered in more than one place: lists, groups and retries, from the client to the record. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import t, { type Test } from 'tap';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import type { Behaviour, ScriptedProvider } from '../../support/scripted-provider.ts';
import { scriptedProvider } from '../../support/world.ts';

type World = { gateway: TestGateway; openai: ScriptedProvider; groq: ScriptedProvider };

async function setUp(t: Test, environment: Record<string, string> = {}): Promise<World> {
  const groq = await scriptedProvider(t);
  const gateway = await startTestGateway(t, {
    GROQ_API_KEY: 'sk-groq',
    GROQ_BASE_URL: groq.url,
    ANTHROPIC_API_KEY: 'sk-ant',
    ANTHROPIC_BASE_URL: groq.url.replace(/\/v1$/, ''),
    ...environment,
  });
  return { gateway, openai: gateway.provider, groq };
}

const ask = (model: string, more: Record<string, unknown> = {}) => ({
  model,
  messages: [{ role: 'user', content: 'Hello' }],
  ...more,
});
const LIST = 'gpt-4o-mini, groq/llama-3.3-70b-versatile';
const RETRY = { 'service-retry-enabled': 'true' };

/** A script that does each in turn, and the last for ever. */
function inTurn(...behaviours: Behaviour[]): () => Behaviour {
  let at = 0;
  return () => behaviours[Math.min(at++, behaviours.length - 1)]!;
}

async function attemptsOf({ sql }: TestGateway, answer: Response): Promise<Record<string, unknown>[] | null> {
  const [row] = await sql<{ attempts: Record<string, unknown>[] | null }[]>`
    select attempts from assay.requests where request_id = ${answer.headers.get('service-request-id')}`;
  return row!.attempts;
}

/** The world of tests that leave the circuits of both providers closed: few calls fail, and others succeed. */
const shared = await setUp(t);
t.beforeEach(() => {
  for (const provider of [shared.openai, shared.groq]) {
    provider.script(null);
    provider.requests.length = 0;
  }
});

t.test('an invalid response of the first model leads to the next model of the list', async (t) => {
  const { gateway, openai, groq } = await setUp(t);
  const json = { 'content-type': 'application/json' };
  for (const behaviour of [
    { kind: 'html', status: 200 },
    { kind: 'bytes', body: '', headers: json },
    { kind: 'bytes', body: '{"id":"chatcmpl-1","cho', headers: json },
    { kind: 'bytes', body: '{}', headers: { ...json, 'content-encoding': 'snappy' } },
    { kind: 'bytes', status: 302, body: '', headers: { location: 'http://elsewhere.test/' } },
    { kind: 'bytes', body: '{"id":"chatcmpl-1","cho', headers: json, ending: 'cut' },
  ] as Behaviour[]) {
    openai.script(() => behaviour);
    const answer = await gateway.chat(ask(LIST));
    t.equal(answer.status, 200, JSON.stringify(behaviour));
    t.equal(answer.headers.get('service-fallback-index'), '1');
  }
  t.equal(groq.requests.length, 6);
});

t.test('an error of the first model leads to the next model of the list', async (t) => {
  const { gateway, openai, groq } = shared;
  openai.script(() => ({ kind: 'error', status: 503 }));
  const answer = await gateway.chat(ask(LIST));
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('service-fallback-index'), '1');
  t.match(JSON.parse(groq.requests[0]!.body.toString()), { model: 'llama-3.3-70b-versatile' });
  t.equal(groq.requests[0]!.headers.authorization, 'Bearer sk-groq', 'with the key of its own provider');
  const record = await gateway.record(answer);
  t.match(record, {
    status: 200,
    provider: 'GROQ',
    request_model: LIST,
    model: 'llama-3.3-70b-versatile',
    error_code: null,
  });
  t.ok(record.cost_nano, 'its cost is that of the model that answered');
  t.match(await attemptsOf(gateway, answer), [
    { provider: 'OPENAI', model: 'gpt-4o-mini', status: 503, error_code: null },
    { provider: 'GROQ', model: 'llama-3.3-70b-versatile', status: 200, error_code: null },
  ]);
});

t.test('a response of the first model of a list has Service-Fallback-Index 0', async (t) => {
  const { gateway, groq } = shared;
  const answer = await gateway.chat(ask(LIST));
  t.equal(answer.headers.get('service-fallback-index'), '0');
  t.match(await gateway.record(answer), { provider: 'OPENAI', request_model: LIST });
  t.match(await attemptsOf(gateway, answer), [{ provider: 'OPENAI', model: 'gpt-4o-mini', status: 200 }]);
  t.equal(groq.requests.length, 0);
  const single = await gateway.chat(ask('gpt-4o-mini'));
  t.equal(single.headers.get('service-fallback-index'), null);
});

t.test('a fallback to Anthropic is translated into a completion', async (t) => {
  const { gateway, openai, groq: anthropic } = shared;
  openai.script(() => ({ kind: 'cut', at: 'headers' }));
  anthropic.script(() => ({
    kind: 'json',
    body: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5-20250929',
      content: [{ type: 'text', text: 'Hi.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 3, output_tokens: 2 },
    },
  }));
  const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const completion = await client.chat.completions.create(ask('gpt-4o-mini,claude-sonnet-4-5') as never);
  t.match(completion, { choices: [{ message: { content: 'Hi.' } }] });
});

t.test(
  'when all models fail, the client gets the last response and the record has each attempt',
  async (t) => {
    const { gateway, openai, groq } = shared;
    openai.script(() => ({ kind: 'reset' }));
    groq.script(() => ({
      kind: 'error',
      status: 429,
      message: 'Slow down',
      headers: { 'retry-after': '9' },
    }));
    const answer = await gateway.chat(ask(LIST));
    t.equal(answer.status, 429);
    t.equal(answer.headers.get('retry-after'), '9');
    t.match(await answer.json(), { error: { message: 'Slow down' } });
    await gateway.record(answer);
    t.match(await attemptsOf(gateway, answer), [
      { provider: 'OPENAI', status: 0, error_code: 'provider_unreachable' },
      { provider: 'GROQ', status: 429, error_code: null },
    ]);
  },
);

t.test('a 400 of the first model is relayed without calling the next', async (t) => {
  const { gateway, openai, groq } = shared;
  openai.script(() => ({ kind: 'error', status: 400, message: 'temperature is too high' }));
  const answer = await gateway.chat(ask(LIST));
  t.equal(answer.status, 400);
  t.equal(groq.requests.length, 0);
});

t.test('a call is retried if it asks for retries, and not otherwise', async (t) => {
  const { gateway, openai } = await setUp(t);
  openai.script(inTurn({ kind: 'error', status: 500 }, { kind: 'cut', at: 'headers' }, { kind: 'answer' }));
  const answer = await gateway.chat(ask('gpt-4o-mini'), RETRY);
  t.equal(answer.status, 200);
  t.equal(openai.requests.length, 3);
  const record = await gateway.record(answer);
  t.match(record, { status: 200, error_code: null });
  t.match(await attemptsOf(gateway, answer), [{ status: 500 }, { status: 0 }, { status: 200 }]);
  openai.script(() => ({ kind: 'error', status: 500 }));
  t.equal((await gateway.chat(ask('gpt-4o-mini'))).status, 500);
  t.equal(openai.requests.length, 4);
  const few = await gateway.chat(ask('gpt-4o-mini'), { ...RETRY, 'service-retry-num': '1' });
  t.equal(few.status, 500);
  t.equal(openai.requests.length, 6);
});

t.test("a retry waits for the provider's Retry-After", async (t) => {
  const { gateway, openai } = shared;
  openai.script(inTurn({ kind: 'error', status: 429, headers: { 'retry-after': '1' } }, { kind: 'answer' }));
  t.equal((await gateway.chat(ask('gpt-4o-mini'), RETRY)).status, 200);
  const [first, second] = openai.requests;
  t.ok(second!.receivedAtMs - first!.receivedAtMs >= 990);
});

t.test('a stream that begins with an error leads to another attempt', async (t) => {
  const { gateway, openai, groq } = await setUp(t);
  const stream = (body: string, ending: 'end' | 'cut' = 'end'): Behaviour => ({
    kind: 'bytes',
    body,
    headers: { 'content-type': 'text/event-stream' },
    ending,
  });
  const overloaded = '{"error":{"message":"Overloaded","type":"overloaded_error"}}';
  for (const [behaviour, status, code] of [
    [stream(`data: ${overloaded}\n\n`), 529, null],
    [stream(`: PROCESSING\n\n: PROCESSING\n\ndata: ${overloaded}\n\ndata: [DONE]\n\n`), 529, null],
    [stream(`event: error\r\ndata: ${overloaded}\r\n\r\n`), 529, null],
    [stream(`data: ${overloaded}`), 529, null],
    [stream('data: {"error":{"message":"Slow down","code":429}}\n\n'), 429, null],
    [stream(': PROCESSING\n\n', 'cut'), 0, 'provider_unreachable'],
    [stream(': PROCESSING\n\n'), 0, 'provider_bad_answer'],
  ] as const) {
    openai.script(() => behaviour);
    const answer = await gateway.chat(ask(LIST, { stream: true }));
    const text = await answer.text();
    t.equal(answer.headers.get('service-fallback-index'), '1', JSON.stringify(behaviour));
    t.ok(text.endsWith('data: [DONE]\n\n') && !text.includes('verloaded'));
    await gateway.record(answer);
    t.match(await attemptsOf(gateway, answer), [{ status, error_code: code }, { status: 200 }]);
    // Keeps the circuit closed.
    openai.script(null);
    await gateway.chat(ask('gpt-4o-mini'));
  }
  const calls = groq.requests.length;
  openai.script(() => stream('data: {"error":{"message":"No","type":"invalid_request_error"}}\n\n'));
  const refused = await gateway.chat(ask(LIST, { stream: true }), RETRY);
  t.equal(refused.headers.get('service-fallback-index'), '0', 'a mistake of the call comes again');
  t.match(await refused.text(), /"No"/);
  openai.script(inTurn(stream(`data: ${overloaded}\n\n`), { kind: 'stream', deltas: ['Hi'] }));
  t.match(await (await gateway.chat(ask('gpt-4o-mini', { stream: true }), RETRY)).text(), /Hi/);
  openai.script(() => stream(`data: ${overloaded}\n\n`));
  const last = await gateway.chat(ask('gpt-4o-mini', { stream: true }), {
    ...RETRY,
    'service-retry-num': '1',
  });
  t.equal(await last.text(), `data: ${overloaded}\n\n`, 'the last one comes as it is');
  t.equal(groq.requests.length, calls);
});

t.test('a stream that breaks off after its first bytes is not retried', async (t) => {
  const { gateway, openai, groq } = shared;
  openai.script(() => ({ kind: 'stream', deltas: ['Hel', 'lo'], ending: 'cut' }));
  const answer = await gateway.chat(ask(LIST, { stream: true }), RETRY);
  const text = await answer.text();
  t.match(text, /"Hel"/);
  t.match(text, /"error":/);
  t.notMatch(text, /\[DONE\]/);
  t.equal(openai.requests.length + groq.requests.length, 1);
  t.match(await gateway.record(answer), { truncated: true, provider: 'OPENAI' });
});

t.test(
  'a client that disconnects during a retry delay is recorded, and no further attempt is made',
  async (t) => {
    const { gateway, openai } = shared;
    openai.script(() => ({ kind: 'error', status: 429, headers: { 'retry-after': '5' } }));
    const requestId = '01JD0000000000000000000000';
    const controller = new AbortController();
    const call = fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...RETRY, authorization: `Bearer ${gateway.key}`, 'service-request-id': requestId },
      body: JSON.stringify(ask('gpt-4o-mini')),
      signal: controller.signal,
    });
    while (openai.requests.length === 0) await sleep(5);
    await openai.requests[0]!.ended;
    controller.abort();
    await t.rejects(call, { name: 'AbortError' });
    t.match(await gateway.record(requestId), { status: 499, error_code: 'client_closed_request' });
    t.equal(openai.requests.length, 1);
  },
);

t.test('a group divides its calls by weight, and its other models are the fallbacks', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'assay-groups-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'models.json');
  const routes = [
    { model: 'openai/gpt-4o-mini', weight: 1 },
    { model: 'groq/llama-3.3-70b-versatile', weight: 1 },
  ];
  writeFileSync(path, JSON.stringify({ groups: [{ id: 'fast', routes }] }));
  const { gateway, openai, groq } = await setUp(t, { MODELS_FILE: path });
  const answers = await Promise.all(Array.from({ length: 100 }, () => gateway.chat(ask('fast'))));
  t.ok(answers.every(({ status }) => status === 200));
  t.equal(openai.requests.length + groq.requests.length, 100);
  // With a fair draw less than 20 of 100 happens once in a thousand million times.
  t.ok(openai.requests.length >= 20 && groq.requests.length >= 20);
  t.match(await gateway.record(answers[0]!), { request_model: 'fast' });
  groq.script(() => ({ kind: 'error', status: 500 }));
  for (let call = 0; call < 10; call += 1) {
    t.equal((await gateway.chat(ask('fast'))).headers.get('service-fallback-index') === null, false);
  }
});

t.test('an address that keeps failing is skipped where another model is left', async (t) => {
  const { gateway, openai, groq } = await setUp(t);
  openai.script(() => ({ kind: 'error', status: 500 }));
  for (let call = 0; call < 8; call += 1) t.equal((await gateway.chat(ask(LIST))).status, 200);
  t.equal(openai.requests.length, 5, 'the breaker opened');
  t.equal(groq.requests.length, 8);
  t.equal(
    (await gateway.chat(ask('gpt-4o-mini'))).status,
    500,
    'who has nowhere else to go is not turned away',
  );
  t.equal(openai.requests.length, 6);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  t.match(metrics, /assay_gateway_provider_open\{[^}]*\} 1/);
});

t.test("a fallback's response is not stored for the first model of the list", async (t) => {
  const { gateway, openai, groq } = shared;
  const cached = { 'service-cache-enabled': 'true' };
  openai.script(inTurn({ kind: 'error', status: 500 }, { kind: 'answer' }));
  const first = await gateway.chat(ask(LIST), cached);
  t.equal(first.headers.get('service-fallback-index'), '1');
  const second = await gateway.chat(ask(LIST), cached);
  t.equal(second.headers.get('service-cache'), 'MISS');
  t.equal(second.headers.get('service-fallback-index'), '0');
  await gateway.record(second);
  t.equal((await gateway.chat(ask(LIST), cached)).headers.get('service-cache'), 'HIT');
  t.equal(groq.requests.length, 1);
});

t.test('an invalid list of models is refused before any provider request', async (t) => {
  const { gateway, openai, groq } = shared;
  const cases: [string, number, RegExp][] = [
    ['gpt-4o-mini,', 400, /entry 2 of .* is empty/],
    ['gpt-4o-mini,openai/gpt-4o-mini', 400, /are the same/],
    ['gpt-4o-mini,no-such-model', 404, /no-such-model/],
    [Array.from({ length: 11 }, (_, at) => `openai/m${at}`).join(), 400, /at most 10 models/],
  ];
  for (const [model, status, message] of cases) {
    const answer = await gateway.chat(ask(model));
    t.equal(answer.status, status, model);
    t.match(await answer.json(), { error: { message } });
  }
  const odd = await gateway.chat(ask('gpt-4o-mini'), { ...RETRY, 'service-retry-num': 'many' });
  t.equal(odd.status, 400);
  const own = await gateway.chat(ask(LIST), {
    'service-auth': `Bearer ${gateway.key}`,
    authorization: 'Bearer sk-mine',
  });
  t.equal(own.status, 400, 'a key of the caller is for one provider');
  t.match(await own.json(), { error: { message: /one provider/ } });
  const refused = await gateway.chat(ask('gpt-4o-mini,claude-sonnet-4-5', { logit_bias: { 5: 1 } }));
  t.equal(refused.status, 400, 'what one of the list cannot be asked');
  t.match(await refused.json(), { error: { message: /logit_bias/ } });
  t.equal(openai.requests.length + groq.requests.length, 0);
});
