/** Answers that are given again: to whom, for how long, and that they are the same. */
import t, { type Test } from 'tap';
import { waitFor } from '../support/assay.ts';
import type { Behaviour } from '../support/scripted-provider.ts';
import { CHAT, type Gateway, type Headers, MODEL, readAll, startLimitsWorld } from './limits-world.ts';

const world = await startLimitsWorld(t, { PROVIDER_IDLE_TIMEOUT_MS: '400' });
const { gateway, provider } = world;
const key = await world.newKey();
t.afterEach(() => provider.script(null));

const CACHED = { 'Service-Cache-Enabled': 'true' };
/** Its answers tell which call they were made for. */
let answered = 0;
function countAnswers(): void {
  provider.script((request) => {
    answered += 1;
    const text = `Answer ${answered}`;
    return request.body.includes('"stream":true')
      ? { kind: 'stream', deltas: ['Answer ', String(answered)] }
      : { kind: 'answer', text };
  });
}

let asked = 0;
/** A body that no other test has sent. */
const fresh = (more: object = {}) => {
  asked += 1;
  return { ...CHAT, messages: [{ role: 'user', content: `Question ${asked}` }], ...more };
};

type Given = { cache: string | undefined; text: string; id: string; status: number; headers: Headers };

async function call(
  body: object | string,
  headers: Headers = {},
  as = key,
  at: Gateway = gateway,
): Promise<Given> {
  const { status, text, headers: given } = await readAll(await at.chat(as, { ...CACHED, ...headers }, body));
  return {
    cache: given['service-cache'],
    text,
    id: given['service-request-id'] ?? '',
    status,
    headers: given,
  };
}

const cacheOf = async (...parameters: Parameters<typeof call>) => (await call(...parameters)).cache;

t.test(
  'what was answered once is given again: the same bytes, an id of its own, and no call of the provider',
  async (t) => {
    const body = fresh();
    provider.script(() => ({
      kind: 'bytes',
      body: '{"id":"x", "z":1e400,"a":"caf\u00e9 \\ud83d" , "a":1}',
      status: 201,
      headers: { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'of-the-first' },
    }));
    const first = await call(body);
    t.equal(first.cache, 'MISS');
    const calls = provider.requests.length;
    const second = await call(body);
    t.equal(second.cache, 'HIT');
    t.equal(second.text, first.text);
    t.equal(second.status, 201);
    t.equal(second.headers['content-type'], 'application/json; charset=utf-8');
    t.equal(
      second.headers['x-request-id'],
      undefined,
      'what the provider said of that call was of that call',
    );
    t.not(second.id, first.id);
    t.equal(provider.requests.length, calls);
  },
);

t.test('without the header nothing is stored, nothing given, and nothing said', async (t) => {
  const body = fresh();
  countAnswers();
  const off = { 'Service-Cache-Enabled': 'false' };
  t.equal(await cacheOf(body, off), undefined);
  t.equal(await cacheOf(body), 'MISS');
  t.equal(await cacheOf(body, off), undefined);
  const before = provider.requests.length;
  await call(body, off);
  t.equal(provider.requests.length, before + 1);
});

t.test('a stream is given again byte for byte, as it came and as it was shown', async (t) => {
  const body = fresh({ stream: true });
  provider.script(() => ({
    kind: 'stream',
    deltas: ['caf', '\u00e9 ', '\ud83d\ude80'],
    chunking: { bytesEach: 1 },
  }));
  const first = await call(body);
  t.equal(first.cache, 'MISS');
  t.notOk(first.text.includes('"total_tokens"'), 'usage was not asked for');
  t.ok(first.text.endsWith('data: [DONE]\n\n'));
  const second = await call(body);
  t.equal(second.cache, 'HIT');
  t.equal(second.text, first.text);
  t.match(second.headers['content-type'], /^text\/event-stream/);

  const asksUsage = { ...body, stream_options: { include_usage: true } };
  const third = await call(asksUsage);
  t.equal(third.cache, 'HIT', 'the provider was asked for usage both times');
  const frames = third.text.split('\n\n');
  const usage = frames.filter((frame) => frame.includes('"total_tokens"'));
  t.equal(usage.length, 1);
  t.same(
    frames.filter((frame) => frame !== usage[0]).join('\n\n'),
    first.text,
    'who asks for usage gets it, and all else is the same',
  );
});

t.test('the openai client reads stored answers like any other, plain and streamed', async (t) => {
  const client = gateway.client(key, CACHED);
  const question = fresh() as { model: string; messages: { role: 'user'; content: string }[] };
  countAnswers();
  const texts: (string | null | undefined)[] = [];
  for (let time = 0; time < 2; time += 1) {
    const completion = await client.chat.completions.create({ ...question, model: MODEL });
    texts.push(completion.choices[0]?.message.content);
  }
  for (let time = 0; time < 2; time += 1) {
    let text = '';
    const stream = await client.chat.completions.create({ ...question, model: MODEL, stream: true });
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    texts.push(text);
  }
  t.equal(texts[0], texts[1]);
  t.equal(texts[2], texts[3]);
  t.not(texts[0], texts[2], 'a stream and a plain answer are two');
});

t.test(
  'a hit is recorded: it cost nothing, has tokens, and names the call whose answer it got',
  async (t) => {
    for (const body of [fresh(), fresh({ stream: true })]) {
      const own = await world.newKey();
      const first = await call(body, {}, own);
      const second = await call(body, {}, own);
      const third = await call(body, {}, own);
      const records = await world.records(own, 3);
      const find = (id: string) => records.find(({ request_id }) => request_id === id);
      const original = find(first.id);
      t.ok(Number(original?.cost_nano) > 0);
      t.equal(original?.cached_from, null);
      for (const hit of [second, third]) {
        t.equal(find(hit.id)?.cost_nano, '0');
        t.match(find(hit.id), {
          status: 200,
          cached_from: first.id,
          total_tokens: original?.total_tokens,
          is_stream: 'stream' in body,
          truncated: false,
          response_text: original?.response_text,
        });
      }
    }
  },
);

t.test('a hit uses nothing of a limit, also of one that is used up', async (t) => {
  const own = await world.newKey();
  const policy = { 'Service-RateLimit-Policy': '2;w=60' };
  const body = fresh();
  const seen: (string | undefined)[][] = [];
  for (const [asks, times] of [
    [body, 3],
    [fresh(), 1],
    [body, 1],
    [fresh(), 1],
  ] as const) {
    for (let time = 0; time < times; time += 1) {
      const { cache, status, headers } = await call(asks, policy, own);
      seen.push([cache, String(status), headers['service-ratelimit-remaining']]);
    }
  }
  t.same(seen, [
    ['MISS', '200', '1'],
    ['HIT', '200', '1'],
    ['HIT', '200', '1'],
    ['MISS', '200', '0'],
    ['HIT', '200', '0'],
    ['MISS', '429', '0'],
  ]);
});

t.test('the order, spacing and spelling of a body do not matter, its values do', async (t) => {
  const content = `Question ${++asked}`;
  t.equal(
    await cacheOf(`{"model":"${MODEL}","messages":[{"role":"user","content":"${content}"}],"temperature":1}`),
    'MISS',
  );
  t.equal(
    await cacheOf(
      `{ "temperature" : 1.0,\n"messages":[{"content":"\\u0051${content.slice(1)}","role":"user"}],"model":"${MODEL}"}`,
    ),
    'HIT',
  );
  for (const other of [
    { model: MODEL, messages: [{ role: 'user', content }], temperature: 1.1 },
    { model: MODEL, messages: [{ role: 'user', content: `${content} ` }], temperature: 1 },
    { model: MODEL, messages: [{ role: 'system', content }], temperature: 1 },
    { model: MODEL, messages: [{ role: 'user', content }], temperature: 1, user: 'ann' },
    { model: MODEL, messages: [{ role: 'user', content }] },
    { model: 'gpt-4o', messages: [{ role: 'user', content }], temperature: 1 },
  ]) {
    t.equal(await cacheOf(other), 'MISS', JSON.stringify(other));
  }
});

t.test('an answer is for the keys of its organization, and for no other’s', async (t) => {
  const organizationId = await world.newOrganization();
  const body = fresh();
  countAnswers();
  const first = await call(body);
  t.same(await call(body, {}, await world.newKey()).then(({ cache, text }) => [cache, text]), [
    'HIT',
    first.text,
  ]);
  const other = await world.newKey({ organizationId });
  const theirs = await call(body, {}, other);
  t.equal(theirs.cache, 'MISS');
  t.not(theirs.text, first.text);
  t.equal((await call(body, {}, other)).text, theirs.text);
  t.equal((await call(body)).text, first.text);
});

t.test('a seed keeps answers apart', async (t) => {
  const body = fresh();
  countAnswers();
  const seeds = [undefined, 'a', 'b', 'A'];
  const headersOf = (seed: string | undefined): Headers =>
    seed === undefined ? {} : { 'Service-Cache-Seed': seed };
  const texts: string[] = [];
  for (const seed of seeds) {
    const { cache, text } = await call(body, headersOf(seed));
    t.equal(cache, 'MISS', `seed ${seed}`);
    texts.push(text);
  }
  for (const [index, seed] of seeds.entries()) {
    const { cache, text } = await call(body, headersOf(seed));
    t.same([cache, text], ['HIT', texts[index]]);
  }
  t.equal(provider.requests.at(-1)?.headers['service-cache-seed'], undefined);
});

/** Calls until the answer is not the stored one: how long after `since` that was, in milliseconds. */
async function agesOut(body: object, headers: Headers, since: number): Promise<number> {
  await waitFor('the answer to be too old', async () => (await cacheOf(body, headers)) === 'MISS');
  return performance.now() - since;
}

t.test('an answer is given until it is as old as the call that stored it said', async (t) => {
  const body = fresh();
  const since = performance.now();
  t.equal(await cacheOf(body, { 'Cache-Control': 'max-age=1' }), 'MISS');
  t.equal(await cacheOf(body), 'HIT');
  t.ok((await agesOut(body, {}, since)) >= 1_000);
});

t.test('who asks for a younger answer gets one, and it takes the older’s place', async (t) => {
  const body = fresh();
  countAnswers();
  const since = performance.now();
  const first = await call(body);
  t.equal(first.cache, 'MISS');
  t.ok((await agesOut(body, { 'Cache-Control': 'private, max-age=1' }, since)) >= 1_000);
  const next = await call(body);
  t.equal(next.cache, 'HIT');
  t.not(next.text, first.text, 'the one that was answered last');
});

t.test('an answer that may have no age is neither given nor stored', async (t) => {
  const body = fresh();
  t.equal(await cacheOf(body), 'MISS');
  t.equal(await cacheOf(body, { 'Cache-Control': 'max-age=0' }), 'MISS');
  const another = fresh();
  t.equal(await cacheOf(another, { 'Cache-Control': 'max-age=0' }), 'MISS');
  t.equal(await cacheOf(another), 'MISS');
});

/** Resolves once other gateways can find an answer. */
async function written({ id }: Given): Promise<void> {
  const isWritten = async () => {
    const [row] = await world.sql`select 1 from assay.cached_answers where request_id = ${id}`;
    return row !== undefined;
  };
  await waitFor('the answer to be written', isWritten);
}

t.test('a bucket fills with as many answers as it holds, and then gives any of them', async (t) => {
  const body = fresh();
  const three = { 'Service-Cache-Bucket-Max-Size': '3' };
  countAnswers();
  const stored = new Set<string>();
  for (let time = 0; time < 3; time += 1) {
    const given = await call(body, three);
    t.equal(given.cache, 'MISS');
    stored.add(given.text);
    await written(given);
  }
  t.equal(stored.size, 3);
  const given = new Set<string>();
  const calls = provider.requests.length;
  // That one of three does not come in 60 draws has a chance of 1 in 10 billion.
  for (let time = 0; time < 60; time += 1) {
    const { cache, text } = await call(body, three);
    if (cache !== 'HIT') t.fail(`${cache} at ${time}`);
    given.add(text);
  }
  t.same([...given].sort(), [...stored].sort());
  t.equal(provider.requests.length, calls);
});

t.test('no-store stores nothing and gives nothing, and says nothing of a cache', async (t) => {
  const body = fresh();
  t.equal(await cacheOf(body, { 'Cache-Control': 'no-store' }), undefined);
  t.equal(await cacheOf(body), 'MISS');
  t.equal(await cacheOf(body, { 'Cache-Control': 'no-store, max-age=60' }), undefined);
});

t.test('no-cache asks anew, and what comes is given to those who ask next', async (t) => {
  const body = fresh();
  countAnswers();
  await call(body);
  const anew = await call(body, { 'Cache-Control': 'no-cache' });
  t.equal(anew.cache, 'MISS');
  const next = await call(body);
  t.same([next.cache, next.text], ['HIT', anew.text]);
});

/** Whether an answer is stored, by asking again. */
async function isStoredAfter(t: Test, behaviour: Behaviour, stream: boolean): Promise<boolean> {
  const body = fresh({ stream });
  provider.script(() => behaviour);
  t.equal((await call(body)).cache, 'MISS');
  provider.script(null);
  return (await cacheOf(body)) === 'HIT';
}

const NOT_STORED: [what: string, behaviour: Behaviour, stream?: boolean][] = [
  ['an error of the provider', { kind: 'error', status: 500 }],
  ['a refusal of the provider', { kind: 'error', status: 400 }],
  ['a provider’s rate limit', { kind: 'error', status: 429 }],
  ['a page', { kind: 'html', status: 200 }],
  ['an empty answer', { kind: 'bytes', body: '' }],
  ['a redirect', { kind: 'bytes', body: '{}', status: 302 }],
  ['a connection that is reset', { kind: 'reset' }],
  ['an answer that breaks off', { kind: 'cut', at: 'body' }],
  ['an answer shorter than it says', { kind: 'wrong-length', by: 10 }],
  ['an answer that came compressed, unasked', { kind: 'answer', encoding: 'gzip' }],
  ['a stream that breaks off', { kind: 'stream', ending: 'cut' }, true],
  ['a stream that falls silent', { kind: 'stream', ending: 'stall' }, true],
  [
    'a stream that ends in the middle',
    {
      kind: 'bytes',
      body: 'data: {"id":"c1","choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n',
      headers: { 'content-type': 'text/event-stream' },
    },
    true,
  ],
  ['an error instead of a stream', { kind: 'error', status: 503 }, true],
];
for (const [what, behaviour, stream = false] of NOT_STORED) {
  t.test(`${what} is not stored`, async (t) => {
    t.equal(await isStoredAfter(t, behaviour, stream), false);
  });
}

for (const [what, behaviour] of [
  ['that ends without [DONE]', { kind: 'stream', omitDone: true }],
  ['that came compressed', { kind: 'stream', encoding: 'gzip' }],
] as [string, Behaviour][]) {
  t.test(`a whole stream ${what} is stored`, async (t) => {
    t.equal(await isStoredAfter(t, behaviour, true), true);
  });
}

t.test(
  'an answer that is to be forgotten is not stored, and one that is stored may be given and forgotten',
  async (t) => {
    const body = fresh();
    const omit = { 'Service-Omit-Response': 'true' };
    t.equal(await cacheOf(body, omit), 'MISS');
    const next = await call(body);
    t.equal(next.cache, 'MISS');
    const own = await world.newKey();
    const hit = await call(body, omit, own);
    t.same([hit.cache, hit.text], ['HIT', next.text]);
    const [record] = await world.records(own, 1);
    t.notOk(record!.response_text.includes('You said'));
    t.equal(record!.cached_from, next.id);
  },
);

t.test('an answer whose client left is not stored', async (t) => {
  for (const stream of [false, true]) {
    const body = fresh({ stream });
    const before = provider.requests.length;
    provider.script(() => (stream ? { kind: 'stream', ending: 'stall' } : { kind: 'hang' }));
    const leaving = new AbortController();
    const left = gateway
      .chat(key, CACHED, body, leaving.signal)
      .then(
        (answer) => answer.text(),
        () => '',
      )
      .catch(() => '');
    await waitFor('the provider to be called', () => provider.requests.length > before);
    leaving.abort();
    await left;
    await provider.requests.at(-1)?.ended;
    provider.script(null);
    t.equal(await cacheOf(body), 'MISS');
  }
});

t.test('another gateway gives it too, and so does one that is started later', async (t) => {
  const body = fresh();
  countAnswers();
  const first = await call(body);
  await written(first);
  const later = await world.start();
  const calls = provider.requests.length;
  for (let time = 0; time < 2; time += 1) {
    const { cache, text } = await call(body, {}, key, later);
    t.same([cache, text], ['HIT', first.text]);
  }
  t.equal(provider.requests.length, calls);
  await later.stop();
});

t.test('while Postgres is away, what is in memory is given, and all else is asked for', async (t) => {
  const own = await world.newKey();
  const body = fresh();
  for (let time = 0; time < 3; time += 1) await call(body, {}, own);
  await world.proxy.cut();
  t.teardown(() => world.proxy.restore());
  t.equal(await cacheOf(body, {}, own), 'HIT');
  const other = await call(fresh(), {}, own);
  t.same([other.cache, other.status], ['MISS', 200]);
});

t.test('a header that says nothing of the cache that can be understood is refused', async (t) => {
  const before = provider.requests.length;
  for (const [name, value, rule] of [
    ['Service-Cache-Bucket-Max-Size', '0', 'it must be a whole number from 1 to 20'],
    ['Service-Cache-Bucket-Max-Size', '21', 'it must be a whole number from 1 to 20'],
    ['Service-Cache-Bucket-Max-Size', '-1', 'it must be a whole number from 1 to 20'],
    ['Service-Cache-Bucket-Max-Size', '1.5', 'it must be a whole number from 1 to 20'],
    ['Service-Cache-Bucket-Max-Size', 'many', 'it must be a whole number from 1 to 20'],
    ['Cache-Control', 'max-age=soon', 'max-age must be whole seconds'],
    ['Cache-Control', 'max-age=-5', 'max-age must be whole seconds'],
    ['Cache-Control', 'max-age=1.5', 'max-age must be whole seconds'],
  ] as const) {
    const { status, text } = await call(fresh(), { [name]: value });
    t.equal(status, 400, `${name}: ${value}`);
    const given = value.replace('max-age=', '');
    t.same(JSON.parse(text), {
      error: {
        message: `Cannot read the header ${name}: ${rule}, but is "${given}"`,
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_header',
      },
    });
  }
  t.equal(provider.requests.length, before);
  const unread = await readAll(await gateway.chat(key, { 'Service-Cache-Bucket-Max-Size': '0' }));
  t.equal(unread.status, 200, 'without the cache, nobody reads them');
});

t.test('a hit is quick', async (t) => {
  const body = fresh();
  await call(body);
  const times: number[] = [];
  for (let time = 0; time < 300; time += 1) {
    const startedAt = performance.now();
    await call(body);
    times.push(performance.now() - startedAt);
  }
  times.sort((a, b) => a - b);
  t.comment(
    `300 hits one after the other, fetch included: p50 ${times[150]!.toFixed(2)} ms, p99 ${times[297]!.toFixed(2)} ms`,
  );
});

t.test('a large stored stream reaches a slow client whole', async (t) => {
  const body = fresh({ stream: true });
  const deltas = Array.from({ length: 2_000 }, (_, index) => `${index} ${'x'.repeat(500)} `);
  provider.script(() => ({ kind: 'stream', deltas }));
  const first = await call(body);
  const answer = await gateway.chat(key, CACHED, body);
  t.equal(answer.headers.get('service-cache'), 'HIT');
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of answer.body!) {
    await new Promise((resolve) => setImmediate(resolve));
    text += decoder.decode(chunk as Uint8Array, { stream: true });
  }
  t.equal(text, first.text);
});
