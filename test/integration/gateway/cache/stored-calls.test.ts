/** The cache stores complete, successful responses, and no others. */
import t, { type Test } from 'tap';
import { waitFor } from '../../../support/assay.ts';
import type { Behaviour } from '../../../support/scripted-provider.ts';
import { CACHED, fresh, startCachedWorld } from './calls-world.ts';

const world = await startCachedWorld(t);
const { gateway, provider, key, call, cacheOf } = world;

/** Returns whether a response is stored, by sending the call again. */
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
  t.test(`a complete stream ${what} is stored`, async (t) => {
    t.equal(await isStoredAfter(t, behaviour, true), true);
  });
}

t.test('a call that depends on what its provider keeps does not use the cache', async (t) => {
  const filler = 'x'.repeat(100_000);
  for (const kept of [
    { conversation: 'conv_1' },
    { conversation: { id: 'conv_1' } },
    { thread: { type: 'create' } },
    { background: true },
    { background: true, messages: [{ role: 'user', content: filler }] },
  ]) {
    const body = fresh(kept);
    const before = provider.requests.length;
    t.same(
      [await cacheOf(body), await cacheOf(body)],
      [undefined, undefined],
      JSON.stringify(Object.keys(kept)),
    );
    t.equal(provider.requests.length - before, 2);
  }
  for (const none of [
    { conversation: null, background: false },
    { previous_response_id: 'resp_1' },
    { messages: [{ role: 'user', content: 'What is a "thread"?', background: true }] },
  ]) {
    const body = fresh(none);
    t.same([await cacheOf(body), await cacheOf(body)], ['MISS', 'HIT'], JSON.stringify(none));
  }
});

t.test(
  'with Service-Omit-Response a call stores no response, but can be answered with a stored one',
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

t.test('a response whose client disconnected is not stored', async (t) => {
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
