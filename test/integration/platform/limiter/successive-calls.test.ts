/** Successive calls under a limit in money, with real counters. */
import t from 'tap';
import type { Limiter } from '#platform/limiter/mod.ts';
import { limitsWorld, makeCounter, makePolicy } from './world.ts';

const world = await limitsWorld(t);
const COST = 1_250;
const ESTIMATE = 10;

/** Makes calls one after the other, each when the previous one is settled. Returns how they were decided. */
async function callSuccessively(limiters: readonly (() => ReturnType<Limiter['reserve']>)[]) {
  const decisions: [isAdmitted: boolean, remaining: number][] = [];
  for (const reserve of limiters) {
    const { isAdmitted, remaining, settle } = await reserve();
    decisions.push([isAdmitted, remaining]);
    if (isAdmitted) settle(COST);
  }
  return decisions;
}

/** Of 3,000, what is left after the cost of earlier calls and the estimate of this one. */
const EXPECTED = [
  [true, 3_000 - ESTIMATE],
  [true, 3_000 - COST - ESTIMATE],
  [true, 3_000 - 2 * COST - ESTIMATE],
  [false, 0],
  [false, 0],
];

t.test(
  'of five successive calls that cost more than estimated, the quota admits exactly three',
  async (t) => {
    const limiter = world.limiter(t);
    const policy = makePolicy(3_000, 60, 'cents');
    for (let round = 0; round < 50; round += 1) {
      const counter = makeCounter({ unit: 'cents' });
      const reserve = () => limiter.reserve(counter, policy, ESTIMATE);
      t.same(await callSuccessively(Array(5).fill(reserve)), EXPECTED);
    }
  },
);

t.test('the cost of an ended call counts at once under the other policy of its counter', async (t) => {
  const limiter = world.limiter(t);
  const counter = makeCounter({ unit: 'cents' });
  const policies = [makePolicy(3_000, 60, 'cents'), makePolicy(3_000, 3_600, 'cents')];
  const calls = [0, 1, 0, 1, 0].map((place) => () => limiter.reserve(counter, policies[place]!, ESTIMATE));
  t.same(await callSuccessively(calls), EXPECTED);
});

t.test(
  'the cost of an ended call counts at once for all values that share the overflow counter',
  async (t) => {
    const limiter = world.limiter(t, { maxCounters: 0 });
    const { organizationId, apiKeyId } = makeCounter();
    const policy = makePolicy(3_000, 60, 'cents');
    const calls = Array.from({ length: 5 }, (_, user) => {
      const counter = makeCounter({
        organizationId,
        apiKeyId,
        unit: 'cents',
        segment: 'user',
        value: `${user}`,
      });
      return () => limiter.reserve(counter, policy, ESTIMATE);
    });
    t.same(await callSuccessively(calls), EXPECTED);
  },
);

t.test(
  'peek includes the cost of an ended call, before and after the counter has acknowledged it',
  async (t) => {
    const limiter = world.limiter(t);
    const counter = makeCounter({ unit: 'cents' });
    const policy = makePolicy(3_000, 60, 'cents');
    const { settle } = await limiter.reserve(counter, policy, ESTIMATE);
    settle(COST);
    t.match(await limiter.peek(counter, policy), { remaining: 3_000 - COST });
    while (limiter.unreportedCalls() > 0) {
      t.match(await limiter.peek(counter, policy), { remaining: 3_000 - COST });
      await new Promise(setImmediate);
    }
    t.match(await limiter.peek(counter, policy), { remaining: 3_000 - COST });
  },
);
