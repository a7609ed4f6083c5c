/** Limits in money: what is reserved before a call becomes what the call cost, once, however the call ends. */
import t from 'tap';
import { waitFor } from '../../../support/assay.ts';
import type { Behaviour } from '../../../support/scripted-provider.ts';
import { CENT, cents, NINE_CENTS, settlementsOf } from './settlements.ts';
import { CHAT, PRICE, readAll, remainingOf, STREAM, startLimitsWorld } from './world.ts';

const world = await startLimitsWorld(t, { PROVIDER_IDLE_TIMEOUT_MS: '500' });
const { gateway, provider } = world;
const { checkSettled, countedNano, records, reservations } = settlementsOf(world);
t.afterEach(() => provider.script(null));

for (const [what, body] of [
  ['plain', CHAT],
  ['streamed', STREAM],
  ['streamed, with usage asked for', { ...STREAM, stream_options: { include_usage: true } }],
] as const) {
  t.test(`a call (${what}) is counted at its real cost`, async (t) => {
    const key = await world.newKey();
    provider.script(() => ({ kind: body === CHAT ? 'answer' : 'stream', usage: NINE_CENTS }) as Behaviour);
    const answer = await gateway.chat(key, cents(100), body);
    t.equal(answer.status, 200);
    await answer.text();
    const [row] = await checkSettled(t, key, 1);
    t.equal(row?.settled, 9 * CENT);
    const { promptTokens, completionTokens } = NINE_CENTS;
    const [record] = await records(key, 1);
    t.equal(record?.cost, promptTokens * PRICE.prompt + completionTokens * PRICE.completion);
    const next = await gateway.chat(key, cents(100), { ...CHAT, max_tokens: 1 });
    t.equal(remainingOf(next), 90, 'the next call sees 91 cents less its own small estimate');
    await next.text();
  });
}

t.test('an estimate includes the completion: max_tokens, or the usual length', async (t) => {
  const key = await world.newKey();
  const other = await world.newKey();
  provider.script(() => ({ kind: 'answer', usage: { promptTokens: 10, completionTokens: 1_000 } }));
  const estimateOf = async (of: string, body: object, count: number) => {
    await readAll(await gateway.chat(of, cents(100), body));
    return (await reservations(of, count)).at(-1)!.estimate;
  };
  const small = await estimateOf(key, { ...CHAT, max_tokens: 100 }, 1);
  const large = await estimateOf(key, { ...CHAT, max_tokens: 100_000 }, 2);
  // The bodies differ by three digits: a token at the most.
  t.ok(Math.abs(large - small - 99_900 * PRICE.completion) <= PRICE.prompt);
  const newer = await estimateOf(key, { ...CHAT, max_tokens: 7, max_completion_tokens: 100 }, 3);
  t.ok(newer >= 100 * PRICE.completion, 'max_completion_tokens is the newer name of it');
  const long = await estimateOf(other, { ...CHAT, max_tokens: 100, pad: 'x'.repeat(4_000) }, 1);
  t.ok(
    Math.abs(long - small - 1_000 * PRICE.prompt) < 10 * PRICE.prompt,
    'a longer question has more tokens',
  );
});

t.test('an image is estimated as one, not as the text of its bytes', async (t) => {
  const key = await world.newKey();
  provider.script(() => ({ kind: 'answer', usage: { promptTokens: 800, completionTokens: 5 } }));
  const url = `data:image/png;base64,${Buffer.alloc(1_000_000, 'image').toString('base64')}`;
  const content = [{ type: 'image_url', image_url: { url } }];
  const body = { ...CHAT, max_tokens: 100, messages: [{ role: 'user', content }] };
  const answer = await gateway.chat(key, cents(100), body);
  t.equal(answer.status, 200);
  await answer.text();
  const [reserved] = await reservations(key, 1);
  t.ok(reserved!.estimate < CENT, `${reserved!.estimate} nano-dollars`);
});

t.test('the estimate of a call is learnt from the cost of earlier responses', async (t) => {
  const key = await world.newKey();
  // A model of its own, of which no other test has had an answer.
  const body = { ...CHAT, model: 'gpt-4.1-nano' };
  provider.script(() => ({ kind: 'answer', usage: { promptTokens: 10, completionTokens: 20_000 } }));
  await readAll(await gateway.chat(key, cents(100), body));
  await readAll(await gateway.chat(key, cents(100), body));
  const [first, second] = await reservations(key, 2);
  t.ok(second!.estimate > 10 * first!.estimate, `${first!.estimate}, then ${second!.estimate} nano-dollars`);
});

t.test('the first call of a window passes at any estimated cost, and the next is refused', async (t) => {
  const key = await world.newKey();
  provider.script(() => ({ kind: 'answer', usage: NINE_CENTS }));
  t.equal((await readAll(await gateway.chat(key, cents('0.0000001')))).status, 200);
  t.equal((await readAll(await gateway.chat(key, cents('0.0000001')))).status, 429);
  await checkSettled(t, key, 1);
  t.equal((await readAll(await gateway.chat(key, cents('8.9')))).status, 429, '9 cents were spent');
  t.equal((await readAll(await gateway.chat(key, cents('9.1')))).status, 200);
});

const FAILURES: [what: string, behaviour: Behaviour, status: number][] = [
  ['that its provider refuses', { kind: 'error', status: 500 }, 500],
  ['that its provider limits', { kind: 'error', status: 429 }, 429],
  ['whose provider breaks the connection', { kind: 'reset' }, 502],
  ['that is answered with a page', { kind: 'html', status: 200 }, 502],
];
for (const [what, behaviour, status] of FAILURES) {
  t.test(`a call ${what} costs nothing`, async (t) => {
    const key = await world.newKey();
    provider.script(() => behaviour);
    t.equal((await readAll(await gateway.chat(key, cents(1)))).status, status);
    const [row] = await checkSettled(t, key, 1);
    t.equal(row?.settled, 0);
    t.ok(row!.estimate > 0, 'though it was reserved for');
  });
}

t.test('a call refused for a used request id costs nothing', async (t) => {
  const key = await world.newKey();
  const id = { 'Service-Request-Id': '0190f5a0-0000-7000-8000-000000000001' };
  await readAll(await gateway.chat(key, id));
  const again = await gateway.chat(key, { ...id, ...cents(100) });
  t.equal(again.status, 409);
  await again.text();
  await waitFor('nothing to be counted', async () => (await countedNano(key)) === 0);
});

t.test('a call whose client disconnects is counted at its estimate, plain and streamed', async (t) => {
  const key = await world.newKey();
  provider.script((request) =>
    request.body.includes('"stream":true') ? { kind: 'stream', ending: 'stall' } : { kind: 'hang' },
  );
  for (const body of [CHAT, STREAM]) {
    const before = provider.requests.length;
    const leaving = new AbortController();
    const answer = gateway.chat(key, cents(100), body, leaving.signal).then(
      async (given) => {
        await given.body?.getReader().read();
        return given;
      },
      () => null,
    );
    await waitFor('the provider to be called', () => provider.requests.length > before);
    if (body === STREAM) await answer;
    leaving.abort();
    await answer;
  }
  const rows = await checkSettled(t, key, 2);
  t.same(
    (await records(key, 2)).map(({ status, cost }) => [status, cost]),
    [
      [499, null],
      [499, null],
    ],
  );
  t.ok(rows.every(({ settled, estimate }) => settled === estimate && estimate > 0));
});

t.test('a stream that breaks off or has no usage is counted at its estimate', async (t) => {
  const key = await world.newKey();
  const endings: Behaviour[] = [
    { kind: 'stream', ending: 'cut' },
    { kind: 'stream', ending: 'stall' },
    { kind: 'stream', usage: null },
  ];
  for (const behaviour of endings) {
    provider.script(() => behaviour);
    await readAll(await gateway.chat(key, cents(100), STREAM));
  }
  const rows = await checkSettled(t, key, 3);
  t.ok(rows.every(({ settled, estimate }) => settled === estimate && estimate > 0));
});

t.test('a call with Service-Omit-Response is counted at the same cost', async (t) => {
  const key = await world.newKey();
  provider.script(() => ({ kind: 'stream', usage: NINE_CENTS }));
  await readAll(await gateway.chat(key, { ...cents(100), 'Service-Omit-Response': 'true' }, STREAM));
  const [row] = await checkSettled(t, key, 1);
  t.equal(row?.settled, 9 * CENT);
});

t.test('a cache hit costs nothing, and needs no known price', async (t) => {
  const key = await world.newKey();
  const stored = { 'Service-Cache-Enabled': 'true' };
  const body = { ...CHAT, model: 'openai/gpt-nobody-priced' };
  await readAll(await gateway.chat(key, stored, body));
  const hit = await readAll(await gateway.chat(key, { ...stored, ...cents(1) }, body));
  t.equal(hit.status, 200);
  t.equal(hit.headers['service-cache'], 'HIT');
  t.equal(hit.headers['service-ratelimit-remaining'], '1');
  t.equal(await countedNano(key), 0);
});

t.test('a call refused by a limit in cents reserves nothing', async (t) => {
  const key = await world.newKey();
  await readAll(await gateway.chat(key, cents('0.0001')));
  for (let call = 0; call < 5; call += 1) {
    t.equal((await readAll(await gateway.chat(key, cents('0.0001')))).status, 429);
  }
  await checkSettled(t, key, 1);
});

t.test('each model is counted at its own price', async (t) => {
  const key = await world.newKey();
  provider.script(() => ({ kind: 'answer', usage: { promptTokens: 1_000, completionTokens: 1_000 } }));
  await readAll(await gateway.chat(key, cents(100), { ...CHAT, model: 'gpt-4o' }));
  const [row] = await checkSettled(t, key, 1);
  // 2.50 and 10 USD a million tokens.
  t.equal(row?.settled, 1_000 * 2_500 + 1_000 * 10_000);
});
