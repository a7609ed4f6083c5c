/** Calls that follow one another under a limit in money, with real counters. */
import t from 'tap';
import type { Limiter } from '#platform/limiter/mod.ts';
import { limitsWorld, makeCounter, makePolicy } from './world.ts';

const world = await limitsWorld(t);
const COST = 1_250;
const ESTIMATE = 10;

/** Makes calls one after the other, each asked for when the one before has told its cost; returns how they were decided. */
async function callInTurn(limiters: readonly (() => ReturnType<Limiter['reserve']>)[]) {
  const decisions: [isAdmitted: boolean, remaining: number][] = [];
  for (const reserve of limiters) {
    const { isAdmitted, remaining, settle } = await reserve();
    decisions.push([isAdmitted, remaining]);
    if (isAdmitted) settle(COST);
  }
  return decisions;
}

/** Of 3,000: what earlier calls cost and this one's estimate are gone. */
const EXPECTED = [
  [true, 3_000 - ESTIMATE],
  [true, 3_000 - COST - ESTIMATE],
  [true, 3_000 - 2 * COST - ESTIMATE],
  [false, 0],
  [false, 0],
];

t.test('five calls in turn that cost more than estimated: the quota lets three in, every time', async (t) => {
  const limiter = world.limiter(t);
  const policy = makePolicy(3_000, 60, 'cents');
  for (let round = 0; round < 50; round += 1) {
    const counter = makeCounter({ unit: 'cents' });
    const reserve = () => limiter.reserve(counter, policy, ESTIMATE);
    t.same(await callInTurn(Array(5).fill(reserve)), EXPECTED);
  }
});

t.test(
  'calls under two policies of one counter know of each other, as soon as they have ended',
  async (t) => {
    const limiter = world.limiter(t);
    const counter = makeCounter({ unit: 'cents' });
    const policies = [makePolicy(3_000, 60, 'cents'), makePolicy(3_000, 3_600, 'cents')];
    const calls = [0, 1, 0, 1, 0].map((place) => () => limiter.reserve(counter, policies[place]!, ESTIMATE));
    t.same(await callInTurn(calls), EXPECTED);
  },
);

t.test('calls of values for which there is no counter know of each other, as they share one', async (t) => {
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
  t.same(await callInTurn(calls), EXPECTED);
});

t.test(
  'a look at a counter tells what an ended call cost, before the counter was told and after',
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
