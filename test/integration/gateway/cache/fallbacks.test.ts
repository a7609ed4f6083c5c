/** The cache of calls with several candidates: each response is stored as that of the model that gave it. */
import t, { type Test } from 'tap';
import { startTestGateway, type TestGateway } from '../../../support/gateway.ts';
import type { ScriptedProvider } from '../../../support/scripted-provider.ts';
import { scriptedProvider } from '../../../support/world.ts';

type World = { gateway: TestGateway; openai: ScriptedProvider; groq: ScriptedProvider };

const FIRST = 'gpt-4o-mini';
const SECOND = 'groq/llama-3.3-70b-versatile';
const LIST = `${FIRST},${SECOND}`;
const CACHED = { 'service-cache-enabled': 'true' };

const MESSAGE = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 2 },
});

let asked = 0;
/** A question that no other test has asked. */
function question(more: Record<string, unknown> = {}): Record<string, unknown> {
  asked += 1;
  return { messages: [{ role: 'user', content: `Question ${asked}` }], ...more };
}

async function setUp(t: Test): Promise<World> {
  const groq = await scriptedProvider(t);
  const gateway = await startTestGateway(t, {
    GROQ_API_KEY: 'sk-groq',
    GROQ_BASE_URL: groq.url,
    ANTHROPIC_API_KEY: 'sk-ant',
    ANTHROPIC_BASE_URL: groq.url.replace(/\/v1$/, ''),
  });
  return { gateway, openai: gateway.provider, groq };
}

/** Calls with the cache enabled, and reads all of the response. */
async function call({ gateway }: World, body: Record<string, unknown>, headers: Record<string, string> = {}) {
  const answer = await gateway.chat(body, { ...CACHED, ...headers });
  const text = await answer.text();
  const { status } = answer;
  return {
    answer,
    status,
    text,
    cache: answer.headers.get('service-cache'),
    index: answer.headers.get('service-fallback-index'),
    routed: answer.headers.get('service-routed-model'),
  };
}

const down = () => ({ kind: 'error', status: 401 }) as const;
let answered = 0;
const counting = () => {
  answered += 1;
  return { kind: 'answer', text: `Answer ${answered}` } as const;
};

const world = await setUp(t);
t.beforeEach(() => {
  world.openai.script(counting);
  world.groq.script(counting);
  for (const provider of [world.openai, world.groq]) provider.requests.length = 0;
});

t.test(
  'while the first model of a list fails, the response of the next one is served from the cache',
  async (t) => {
    const { openai, groq, gateway } = world;
    openai.script(down);
    const body = question({ model: LIST });
    const first = await call(world, body);
    t.match(first, { status: 200, cache: 'MISS', index: '1' });
    const second = await call(world, body);
    t.match(second, { status: 200, cache: 'HIT', index: '1', text: first.text, routed: SECOND });
    t.equal(openai.requests.length, 2, 'the first model is asked each time');
    t.equal(groq.requests.length, 1);
    const from = first.answer.headers.get('service-request-id');
    t.match(await gateway.record(second.answer), {
      provider: 'GROQ',
      cached_from: from,
      cost_nano: '0',
      attempts: [{ provider: 'OPENAI', status: 401 }],
    });
    t.match(await gateway.record(first.answer), { cached_from: null, attempts: [{}, { provider: 'GROQ' }] });
  },
);

t.test("the response of a fallback is never given as the first model's", async (t) => {
  const { openai } = world;
  openai.script(down);
  const body = question();
  const fallen = await call(world, { ...body, model: LIST });
  openai.script(counting);
  for (const model of [LIST, FIRST]) {
    const well = await call(world, { ...body, model });
    t.not(well.text, fallen.text, model);
  }
  t.match(
    await call(world, { ...body, model: LIST }),
    { cache: 'HIT', index: '0' },
    "then with the first one's",
  );
});

t.test('a list and a call to one of its models share the responses of that model', async (t) => {
  const { openai, groq } = world;
  const body = question();
  const alone = await call(world, { ...body, model: SECOND });
  openai.script(down);
  t.match(await call(world, { ...body, model: LIST }), { cache: 'HIT', index: '1', text: alone.text });
  const other = question();
  const fallen = await call(world, { ...other, model: LIST });
  t.match(await call(world, { ...other, model: SECOND }), { cache: 'HIT', index: null, text: fallen.text });
  t.equal(groq.requests.length, 2);
});

t.test('a stream and a translated response of a fallback are stored as those of direct calls', async (t) => {
  const { openai } = world;
  openai.script(down);
  world.groq.script(({ path }) =>
    path.endsWith('/messages')
      ? { kind: 'bytes', body: MESSAGE, headers: { 'content-type': 'application/json' } }
      : { kind: 'stream', deltas: ['Hel', 'lo'] },
  );
  for (const body of [
    question({ stream: true, model: LIST }),
    question({ model: `${FIRST},claude-sonnet-4-5` }),
  ]) {
    const first = await call(world, body);
    t.match(first, { status: 200, cache: 'MISS', index: '1' });
    const second = await call(world, body);
    t.match(second, { cache: 'HIT', index: '1', text: first.text });
    t.equal(second.answer.headers.get('content-type'), first.answer.headers.get('content-type'));
  }
});

t.test('no-cache, an age of 0 and an omitted response hold for fallbacks, too', async (t) => {
  const { openai, groq } = world;
  openai.script(down);
  const body = question({ model: LIST });
  const headers = { 'service-omit-response': 'true' };
  for (const [more, cache] of [
    [headers, 'MISS'],
    [{ 'cache-control': 'max-age=0' }, 'MISS'],
    [{ 'cache-control': 'no-store' }, null],
    [{}, 'MISS'],
    [{ 'cache-control': 'no-cache' }, 'MISS'],
  ] as [Record<string, string>, string | null][])
    t.match(await call(world, body, more), { status: 200, cache, index: '1' }, JSON.stringify(more));
  const newest = await call(world, body);
  t.match(newest, { cache: 'HIT', text: /Answer/ });
  t.equal(groq.requests.length, 5);
  t.match(
    newest.text,
    new RegExp(`Answer ${answered}\\b`),
    'the response of no-cache took the place of the older one',
  );
});

t.test(
  'calls that wait for a leader whose first model fails get the response of the next model',
  async (t) => {
    const { openai, groq } = world;
    openai.script(down);
    const body = question({ model: LIST });
    const all = await Promise.all(
      Array.from({ length: 12 }, () => call(world, body, { 'service-cache-coalesce': 'true' })),
    );
    t.equal(new Set(all.map(({ text }) => text)).size, 1);
    t.ok(all.every(({ status, index }) => status === 200 && index === '1'));
    t.equal(groq.requests.length, 1);
  },
);

t.test('a stored response says nothing about the address of its provider', async (t) => {
  const own = await setUp(t);
  const body = question({ model: LIST });
  own.openai.script(down);
  own.groq.script(counting);
  const stored = await call(own, body);
  own.groq.script(() => ({ kind: 'error', status: 500 }));
  for (let number = 0; number < 5; number += 1) await call(own, question({ model: SECOND }));
  const isOpen = async () =>
    /^assay_gateway_provider_open\{[^}]*address="groq [^}]*\} (\d)$/m.exec(
      await (await fetch(`${own.gateway.url}/metrics`)).text(),
    )?.[1];
  t.equal(await isOpen(), '1');
  for (let number = 0; number < 3; number += 1)
    t.match(await call(own, body), { cache: 'HIT', text: stored.text });
  t.equal(await isOpen(), '1', 'its circuit stays open');
});
