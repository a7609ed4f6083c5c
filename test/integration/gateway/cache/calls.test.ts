/** Answers that are given again: to whom, and that they are the same. */
import t from 'tap';
import { MODEL } from '../limits/world.ts';
import { CACHED, fresh, startCachedWorld } from './calls-world.ts';

const world = await startCachedWorld(t);
const { gateway, provider, key, countAnswers, call, cacheOf, written } = world;

t.test(
  'a stored response is served with the same bytes, a new request id and no provider request',
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

t.test(
  'without Service-Cache-Enabled nothing is stored or served, and Service-Cache is missing',
  async (t) => {
    const body = fresh();
    countAnswers();
    const off = { 'Service-Cache-Enabled': 'false' };
    t.equal(await cacheOf(body, off), undefined);
    t.equal(await cacheOf(body), 'MISS');
    t.equal(await cacheOf(body, off), undefined);
    const before = provider.requests.length;
    await call(body, off);
    t.equal(provider.requests.length, before + 1);
  },
);

t.test('a stored stream is served byte for byte as the first client read it', async (t) => {
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

t.test('the openai client reads stored responses like any other, plain and streamed', async (t) => {
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
  'the record of a cache hit has no cost, has tokens, and names the call that stored the response',
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

t.test('a cache hit uses no rate limit, and is served when the limit is used up', async (t) => {
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

t.test('a cache hit needs equal values in the body, not equal order, spacing or escapes', async (t) => {
  const { content } = fresh().messages[0]!;
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

t.test("a stored response is served to all keys of its organization, and to no other's", async (t) => {
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

t.test('a stored response is served by other gateways, also by one that is started later', async (t) => {
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

t.test(
  'while Postgres is unavailable, responses in memory are served and other calls go to the provider',
  async (t) => {
    const own = await world.newKey();
    const body = fresh();
    for (let time = 0; time < 3; time += 1) await call(body, {}, own);
    await world.proxy.cut();
    t.teardown(() => world.proxy.restore());
    t.equal(await cacheOf(body, {}, own), 'HIT');
    const other = await call(fresh(), {}, own);
    t.same([other.cache, other.status], ['MISS', 200]);
  },
);

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
