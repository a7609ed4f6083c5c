/** Limits in money under concurrent calls, and in a gateway that stops: every call is counted, once. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { waitFor } from '../../../support/assay.ts';
import { seededRandom } from '../../../support/random.ts';
import { CENT, cents, dueOf, NINE_CENTS, settlementsOf } from './settlements.ts';
import { CHAT, PRICE, readAll, STREAM, startLimitsWorld } from './world.ts';

const world = await startLimitsWorld(t, { PROVIDER_IDLE_TIMEOUT_MS: '500', SHUTDOWN_TIMEOUT_MS: '10000' });
const { gateway, provider } = world;
const { checkCounted, records, reservations } = settlementsOf(world);
t.afterEach(() => provider.script(null));

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
    // Once the model has answered, the gateway estimates a prompt as this test does: by four bytes a token.
    const first = await world.newKey();
    await readAll(await gateway.chat(first, cents(1)));
    await reservations(first, 1);
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
