/** Limits in money: what is reserved before a call becomes what the call cost, once, however the call ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { waitFor } from '../../../support/assay.ts';
import { seededRandom } from '../../../support/random.ts';
import type { Behaviour } from '../../../support/scripted-provider.ts';
import { CHAT, PRICE, readAll, remainingOf, STREAM, startLimitsWorld } from './world.ts';

const world = await startLimitsWorld(t, { PROVIDER_IDLE_TIMEOUT_MS: '500' });
const { gateway, provider } = world;
t.afterEach(() => provider.script(null));

const CENT = 10_000_000;
const cents = (quota: number | string) => ({ 'Service-RateLimit-Policy': `${quota};w=3600;u=cents` });
/** 9 cents: prompt tokens for 3, completion tokens for 6. */
const NINE_CENTS = { promptTokens: 200_000, completionTokens: 100_000 };

/** A reservation for a call, and its settlement; null: not settled yet. */
type Reservation = { estimate: number; settled: number | null };
/** Cost columns of a record; null: not known, since tokens were estimated later or not at all. */
type Costed = { status: number; cost: number | null; user: string | null };

const readReservations = (key: string) => world.sql<Reservation[]>`
  select r.estimate_nano::float8 as estimate, r.settled_nano::float8 as settled
    from assay.limit_reservations r join assay.limit_counters c using (organization_id, counter_key)
   where c.api_key_id = ${world.idsOf(key).keyId} order by r.charged_ms, r.reservation_id`;

/** The reservations of a key, oldest first, once there are `count` and all are settled. */
async function reservations(key: string, count: number): Promise<Reservation[]> {
  await waitFor(`${count} settled reservations`, async () => {
    const rows = await readReservations(key);
    return rows.length >= count && rows.every(({ settled }) => settled !== null);
  });
  return readReservations(key);
}

/** The records of a key's calls that were let in, once there are `count`. */
async function records(key: string, count: number): Promise<Costed[]> {
  const read = () => world.sql<Costed[]>`
    select status, case when not usage_estimated then cost_nano::float8 end as cost, user_id as user
      from assay.requests
     where api_key_id = ${world.idsOf(key).keyId} and error_code is distinct from 'rate_limit_exceeded'`;
  await waitFor(`${count} records`, async () => (await read()).length >= count);
  return read();
}

/** Returns the count of a key's counter. */
async function countedNano(key: string): Promise<number> {
  const [counter] = await world.sql<{ used: number }[]>`
    select (select sum(n) from unnest((windows[1]).counts) n)::float8 as used
      from assay.limit_counters where api_key_id = ${world.idsOf(key).keyId} and unit = 'cents'`;
  return counter?.used ?? 0;
}

/** Nothing was bought if nothing was answered; else, where its cost is not known, a call's estimate stands. */
const dueOf = ({ status, cost }: Costed) => cost ?? (status >= 400 && status !== 499 ? 0 : null);

/** The counter holds what was settled, and that is this. */
async function checkCounted(
  t: Test,
  key: string,
  settled: readonly Reservation[],
  sum: number,
): Promise<void> {
  t.equal(
    settled.reduce((total, { settled }) => total + (settled ?? 0), 0),
    sum,
    'what is settled is what the calls cost',
  );
  await waitFor('the counter to hold their sum', async () => (await countedNano(key)) === sum);
}

/** `count` calls, one after the other, were let in and made, and each is settled to what its record says. */
async function checkSettled(t: Test, key: string, count: number): Promise<Reservation[]> {
  const settled = await reservations(key, count);
  const costed = await records(key, count);
  t.equal(settled.length, count, 'one reservation for each call');
  t.equal(costed.length, count);
  const left = [...settled];
  for (const due of costed.map(dueOf).filter((due) => due !== null)) {
    const place = left.findIndex((reservation) => reservation.settled === due);
    if (place < 0) t.fail(`A call cost ${due}, and nothing was settled to that`);
    else left.splice(place, 1);
  }
  t.ok(
    left.every(({ estimate, settled }) => settled === estimate),
    'where the cost is not known the estimate stands',
  );
  await checkCounted(
    t,
    key,
    settled,
    settled.reduce((sum, { settled }) => sum + (settled ?? 0), 0),
  );
  return settled;
}

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

t.test('the cost of calls under way when a gateway stops is not lost', async (t) => {
  const key = await world.newKey();
  const leaving = await world.start();
  provider.script(() => ({ kind: 'answer', usage: NINE_CENTS, delayMs: 100 }));
  const before = provider.requests.length;
  const answers = Array.from({ length: 5 }, async () => readAll(await leaving.chat(key, cents(1_000))));
  await waitFor('all to be under way', () => provider.requests.length === before + 5);
  await leaving.stop();
  t.same(
    (await Promise.all(answers)).map(({ status }) => status),
    [200, 200, 200, 200, 200],
  );
  await checkCounted(t, key, await reservations(key, 1), 5 * 9 * CENT);
});

const STREAMS = 200;

t.test(
  `${STREAMS} concurrent streams of any cost and ending are counted exactly, and all are settled`,
  async (t) => {
    const seed = Number(process.env.ASSAY_SEED ?? Date.now() % 1_000_000);
    t.comment(`ASSAY_SEED=${seed}`);
    const random = seededRandom(seed);
    const key = await world.newKey();
    const quota = 4;
    provider.script(() => {
      const usage = {
        promptTokens: Math.ceil(random() * 500),
        completionTokens: Math.ceil(random() * 2_000),
      };
      const deltas = Array.from({ length: 1 + Math.floor(random() * 8) }, (_, index) => `word${index} `);
      const fate = random();
      if (fate < 0.1) return { kind: 'error', status: 500 };
      return {
        kind: 'stream',
        deltas,
        usage,
        everyMs: 5 + random() * 20,
        ending: fate < 0.2 ? 'cut' : 'end',
      };
    });
    const bodyOf = (index: number) => ({
      ...STREAM,
      max_tokens: 1_000 + index,
      messages: [{ role: 'user', content: `Call ${index}` }],
    });
    const estimateOf = (index: number) =>
      Math.ceil(JSON.stringify(bodyOf(index)).length / 4) * PRICE.prompt + (1_000 + index) * PRICE.completion;
    const call = async (index: number) => {
      await sleep(random() * 300);
      const leaving = new AbortController();
      const timer = random() < 0.3 ? setTimeout(() => leaving.abort(), random() * 150) : undefined;
      const headers = { ...cents(quota), 'Service-User-Id': `${index}` };
      const status = await gateway.chat(key, headers, bodyOf(index), leaving.signal).then(
        (answer) =>
          readAll(answer).then(
            () => answer.status,
            () => answer.status,
          ),
        () => 0,
      );
      clearTimeout(timer);
      return status;
    };
    const statuses = await Promise.all(Array.from({ length: STREAMS }, (_, index) => call(index)));
    t.ok(statuses.includes(429) && statuses.includes(200), 'some were refused, some answered');

    // All are settled, so nothing is open; and what was committed before another call's record is stored before it.
    const rows = await reservations(key, 1);
    const other = await world.newKey();
    await readAll(await gateway.chat(other));
    await world.records(other, 1);
    const costed = await records(key, 1);
    t.comment(`${costed.length} let in and made, by ${rows.length} reservations`);
    const calls = costed.map((record) => {
      const estimate = estimateOf(Number(record.user));
      return { estimate, spent: dueOf(record) ?? estimate };
    });
    const spent = calls.reduce((sum, call) => sum + call.spent, 0);
    await checkCounted(t, key, rows, spent);

    // Each was let in while less than the quota was reserved or spent: beyond it are the last estimate, and what others cost
    // more than they were thought to.
    const largest = Math.max(...calls.map(({ estimate }) => estimate));
    const underestimated = calls.reduce((sum, { spent, estimate }) => sum + Math.max(0, spent - estimate), 0);
    const beyond = spent - quota * CENT;
    t.comment(
      `spent ${(spent / CENT).toFixed(4)} of ${quota} cents; beyond the quota ${(beyond / CENT).toFixed(4)}; the estimates' error ${(underestimated / CENT).toFixed(4)}`,
    );
    t.ok(
      beyond <= largest + underestimated,
      'the quota is passed by one call and the estimates’ error at most',
    );
  },
);

t.test('concurrent calls exceed a limit in cents by at most one call', async (t) => {
  const key = await world.newKey();
  provider.script(() => ({
    kind: 'answer',
    usage: { promptTokens: 10, completionTokens: 1_000 },
    delayMs: 200,
  }));
  const body = { ...CHAT, max_tokens: 1_000 };
  // An estimate of 0.06 cents and a little: the ninth is let in below 0.5 cents, the tenth is not.
  const answers = await Promise.all(
    Array.from({ length: 60 }, async () => readAll(await gateway.chat(key, cents('0.5'), body))),
  );
  const passed = answers.filter(({ status }) => status === 200).length;
  t.equal(passed, 9);
  t.equal(answers.length - passed, answers.filter(({ status }) => status === 429).length);
  const costed = await records(key, passed);
  await checkCounted(
    t,
    key,
    await reservations(key, 1),
    costed.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
  );
});

t.test('each model is counted at its own price', async (t) => {
  const key = await world.newKey();
  provider.script(() => ({ kind: 'answer', usage: { promptTokens: 1_000, completionTokens: 1_000 } }));
  await readAll(await gateway.chat(key, cents(100), { ...CHAT, model: 'gpt-4o' }));
  const [row] = await checkSettled(t, key, 1);
  // 2.50 and 10 USD a million tokens.
  t.equal(row?.settled, 1_000 * 2_500 + 1_000 * 10_000);
});
