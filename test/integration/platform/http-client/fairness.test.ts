/** Fair division of a provider's connections among organizations. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { FairQueue } from '#platform/http-client/fair-queue.ts';
import { Model, PoolWorld, WAIT_MS } from './fairness-world.ts';

const organization = fc.constantFrom('a', 'b', 'c');
/** A random event; `pick` chooses the call that it happens to. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('send' as const), organization }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom('answer' as const, 'breakOff' as const, 'abort' as const, 'leave' as const),
      pick: fc.nat(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      ms: fc.constantFrom(1, WAIT_MS / 2, WAIT_MS),
    }),
  },
);
const limits = fc.record({
  connections: fc.integer({ min: 1, max: 8 }),
  perOrganization: fc.integer({ min: 1, max: 9 }),
});

t.test('for random calls, organizations get connections in turn and within their bounds', async () => {
  await fc.assert(
    fc.asyncProperty(
      limits,
      fc.array(step, { minLength: 10, maxLength: 80, size: 'max' }),
      async (bounds, steps) => {
        const world = new PoolWorld(bounds);
        const model = new Model(bounds);
        for (const next of steps) {
          if (next.kind === 'send') {
            world.send(next.organization);
            model.send(next.organization);
          } else if (next.kind === 'pass') {
            world.pass(next.ms);
            model.pass(next.ms);
          } else {
            const state = next.kind === 'leave' ? 'waiting' : 'under way';
            const places = [...model.calls.keys()].filter((place) => model.calls[place]!.state === state);
            const place = places[next.pick % Math.max(1, places.length)];
            if (place === undefined) continue;
            world[next.kind === 'leave' ? 'abort' : next.kind](place);
            model.end(place);
          }
          await nextTurn();
          const expected = model.calls.map(({ state }) => state);
          if (JSON.stringify(world.states()) !== JSON.stringify(expected))
            throw new Error(`${world.states()} instead of ${expected}`);
          if (world.sockets > bounds.connections) throw new Error(`${world.sockets} sockets are open`);
        }
      },
    ),
    { numRuns: 500 },
  );
});

t.test('when the queue is full, the organization with the most waiting calls loses its newest', async () => {
  const queue = new FairQueue<string>({ connections: 9, perOrganization: 2, waiting: 5 });
  const wait = (id: string, item: string) => queue.wait(queue.shareOf(id), item, 0)?.item ?? null;
  for (const item of ['b1', 'b2', 'b3', 'b4']) t.equal(wait('b', item), null);
  t.equal(wait('b', 'b5'), 'b5', 'its line is full: twice what it may hold');
  t.equal(wait('a', 'a1'), null);
  t.equal(wait('c', 'c1'), 'b4', 'a newcomer gets a place of the longest line');
  t.equal(wait('b', 'b6'), 'b6', 'the longest line gets none of the others');
  const order: string[] = [];
  for (let next = queue.next(); next !== null; next = queue.next()) order.push(next.item);
  t.same(order, ['b1', 'a1', 'c1', 'b2']);
});

t.test('an organization without any call leaves the queue', async (t) => {
  const queue = new FairQueue<string>({ connections: 1, perOrganization: 1, waiting: 1 });
  const idle = queue.shareOf('idle');
  const busy = queue.shareOf('busy');
  queue.hold(busy);
  queue.takeExpired(0);
  t.not(queue.shareOf('idle'), idle);
  t.equal(queue.shareOf('busy'), busy);
});

t.test('a new organization gets a connection, however many others hold all they may', async (t) => {
  const queue = new FairQueue<string>({ connections: 1_024, perOrganization: 512, waiting: 1_024 });
  const takeAll = (id: string): number => {
    const share = queue.shareOf(id);
    while (queue.mayHold(share)) queue.hold(share);
    return share.held;
  };
  const taken = Array.from({ length: 8 }, (_, index) => takeAll(`greedy-${index}`));
  t.same(taken, [512, 256, 128, 64, 32, 16, 8, 4]);
  t.ok(queue.mayHold(queue.shareOf('newcomer')));
});

t.test('a single organization gets as many connections as its own bound allows', async (t) => {
  const queue = new FairQueue<string>({ connections: 10, perOrganization: 10, waiting: 10 });
  const share = queue.shareOf('alone');
  while (queue.mayHold(share)) queue.hold(share);
  t.equal(share.held, 10);
});
