import fc from 'fast-check';
import t from 'tap';
import { FairSlots, type Taken, type Waits } from '#platform/process/fair-slots.ts';

const OWNERS = ['a', 'b', 'c', 'd'];
const BOUNDS = { maxWaiting: 1_000, maxWaitingOfOne: 1_000 };

type Job = { owner: string; number: number; end(): void };

/** Jobs that end when the test says so. */
function track(slots: FairSlots) {
  const begun: Job[] = [];
  const running: Job[] = [];
  let made = 0;
  const add = (owner: string) => {
    made += 1;
    const number = made;
    return slots.run(owner, () => {
      const { promise, resolve } = Promise.withResolvers<number>();
      const job: Job = {
        owner,
        number,
        end: () => {
          running.splice(running.indexOf(job), 1);
          resolve(number);
        },
      };
      begun.push(job);
      running.push(job);
      return promise;
    });
  };
  const runningOf = (owner: string) => running.filter((job) => job.owner === owner).length;
  return { begun, running, add, runningOf };
}

/** Lets everything that is ready go on. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

type Step = { kind: 'add'; owner: string } | { kind: 'end'; which: number };

const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('add' as const), owner: fc.constantFrom(...OWNERS) }),
    fc.record({ kind: fc.constant('end' as const), which: fc.nat(100) }),
  ) as fc.Arbitrary<Step>,
  { maxLength: 60 },
);

t.test(
  'slots are bounded, never idle while a job may run, and go to the owner with the fewest running jobs',
  async () => {
    const sizes = fc.record({
      count: fc.integer({ min: 1, max: 5 }),
      spare: fc.nat(2),
      ofOne: fc.integer({ min: 1, max: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(sizes, steps, async ({ count, spare, ofOne }, given) => {
        const slots = new FairSlots({ count, spare, ofOne, ...BOUNDS });
        const { running, begun, add, runningOf } = track(slots);
        const waiting: string[] = [];
        const results: Promise<number | null>[] = [];
        const fail = (what: string) => {
          throw new Error(what);
        };
        const check = () => {
          if (running.length > count + spare) fail(`${running.length} run`);
          for (const owner of OWNERS) if (runningOf(owner) > ofOne) fail(`${runningOf(owner)} of one run`);
          for (const owner of waiting) {
            const own = runningOf(owner);
            if (own < ofOne && running.length < count) fail(`${owner} waits while a slot is free`);
            if (own === 0 && running.length < count + spare)
              fail(`${owner} waits while a spare slot is free`);
          }
        };
        const noteBegun = (before: number, wasWaiting: boolean) => {
          for (const { owner } of begun.slice(before)) {
            if (wasWaiting) waiting.splice(waiting.indexOf(owner), 1);
            const own = runningOf(owner);
            const poorer = waiting.find((other) => runningOf(other) < own - 1 && runningOf(other) < ofOne);
            if (poorer !== undefined) fail(`${owner} got a slot before ${poorer}, which has fewer`);
          }
        };
        for (const step of given) {
          const before = begun.length;
          if (step.kind === 'add') {
            results.push(add(step.owner));
            await settle();
            if (begun.length === before) waiting.push(step.owner);
            noteBegun(before, false);
          } else if (running.length > 0) {
            running[step.which % running.length]!.end();
            await settle();
            noteBegun(before, true);
          }
          check();
        }
        while (running.length > 0) {
          running[0]!.end();
          await settle();
        }
        const numbers = await Promise.all(results);
        if (numbers.some((number, index) => number !== index + 1)) fail('a job did not run');
        for (const owner of OWNERS) {
          const own = begun.filter((job) => job.owner === owner).map((job) => job.number);
          if (own.some((number, index) => number < (own[index - 1] ?? 0))) fail(`${owner}'s jobs overtook`);
        }
      }),
      { numRuns: 300 },
    );
  },
);

t.test('owners of equally many running jobs take turns', async (t) => {
  const slots = new FairSlots({ count: 1, ...BOUNDS });
  const { running, begun, add } = track(slots);
  for (const owner of ['a', 'a', 'a', 'b', 'b', 'b', 'c']) void add(owner);
  while (running.length > 0) {
    running[0]!.end();
    await settle();
  }
  // The first begins at once; then each waiting owner has its turn.
  t.equal(begun.map(({ owner }) => owner).join(''), 'aabcabb');
});

t.test('a job beyond the bounds of waiting is refused at once', async (t) => {
  const slots = new FairSlots({ count: 1, maxWaiting: 3, maxWaitingOfOne: 2 });
  const { running, add } = track(slots);
  const own = [add('a'), add('a'), add('a')];
  t.equal(await add('a'), null, 'a third of one owner');
  const other = add('b');
  t.equal(slots.waiting, 3);
  t.equal(await add('c'), null, 'a fourth in all');
  while (running.length > 0) {
    running[0]!.end();
    await settle();
  }
  t.notOk((await Promise.all([...own, other])).includes(null));
});

t.test('a job that waits longer than its patience is refused, and gets no slot later', async (t) => {
  const slots = new FairSlots({ count: 1, patienceMs: 20, ...BOUNDS });
  const { running, begun, add } = track(slots);
  const first = add('a');
  t.equal(await add('b'), null);
  t.equal(slots.waiting, 0);
  running[0]!.end();
  t.equal(await first, 1);
  await settle();
  t.equal(begun.length, 1);
  t.equal(slots.running, 0);
});

t.test('a job that fails gives its slot back', async (t) => {
  const slots = new FairSlots({ count: 1, ...BOUNDS });
  const failing = slots.run('a', () => Promise.reject(new Error('broken')));
  const next = slots.run('a', async () => 'done');
  await t.rejects(failing, { message: 'broken' });
  t.equal(await next, 'done');
});

const COUNT = 100;
const OF_ONE = 60;

t.test('jobs of several sizes stay within the bounds, start in order, and all have their turn', async () => {
  const sized = fc.array(
    fc.oneof(
      fc.record({ owner: fc.constantFrom(...OWNERS), size: fc.integer({ min: 1, max: OF_ONE }) }),
      fc.record({ which: fc.nat(100), shrunk: fc.boolean() }),
      fc.record({ which: fc.nat(100), grownBy: fc.nat(OF_ONE) }),
      fc.record({ opened: fc.constantFrom(...OWNERS) }),
    ),
    { maxLength: 60 },
  );
  const property = fc.asyncProperty(sized, fc.nat(40), async (given, spare) => {
    const slots = new FairSlots({ count: COUNT, ofOne: OF_ONE, spare, ...BOUNDS });
    type Sized = { owner: string; size: number; taken: Taken };
    const running: Sized[] = [];
    /** In the order in which they came. */
    const waiting: { owner: string; size: number }[] = [];
    const takenBy = (owner: string) =>
      running.filter((job) => job.owner === owner).reduce((sum, { size }) => sum + size, 0);
    const fail = (what: string) => {
      throw new Error(what);
    };
    const check = () => {
      const all = running.reduce((sum, { size }) => sum + size, 0);
      if (all !== slots.running) fail(`${slots.running} are taken, of which ${all} are known`);
      if (all > COUNT + spare) fail(`${all} are taken`);
      for (const owner of OWNERS) if (takenBy(owner) > OF_ONE) fail(`${owner} has ${takenBy(owner)}`);
      if (running.length === 0 && waiting.length > 0) fail('a job waits, and none runs');
      if (overtaking.length > 0) fail(`jobs of ${overtaking[0]} overtook`);
    };
    const overtaking: string[] = [];
    const add = async (owner: string, size: number) => {
      const job = { owner, size };
      waiting.push(job);
      const taken = (await slots.take(owner, size))!;
      if (waiting.find((other) => other.owner === owner) !== job) overtaking.push(owner);
      waiting.splice(waiting.indexOf(job), 1);
      running.push({ owner, size, taken });
    };
    for (const step of given) {
      if ('owner' in step) void add(step.owner, step.size);
      else if ('opened' in step)
        running.push({ owner: step.opened, size: 0, taken: slots.open(step.opened) });
      else if (running.length > 0) {
        const at = step.which % running.length;
        const job = running[at]!;
        if ('grownBy' in step) {
          const free = (takenBy(job.owner) === job.size ? COUNT + spare : COUNT) - slots.running;
          const isLeft = step.grownBy <= Math.min(free, OF_ONE - takenBy(job.owner));
          if (job.taken.growBy(step.grownBy) !== isLeft) fail(`${isLeft ? 'no ' : ''}room to grow`);
          if (isLeft) job.size += step.grownBy;
        } else {
          if (step.shrunk) job.size = Math.ceil(job.size / 2);
          else running.splice(at, 1);
          job.taken.shrinkTo(step.shrunk ? job.size : 0);
        }
      }
      await settle();
      check();
    }
    while (running.length > 0) {
      running.shift()!.taken.release();
      await settle();
      check();
    }
    if (slots.running + slots.waiting > 0) fail('something is left');
  });
  await fc.assert(property, { numRuns: 300 });
});

t.test('a large job is not passed by smaller ones, except of owners that have less', async (t) => {
  const slots = new FairSlots({ count: COUNT, ...BOUNDS });
  const started: string[] = [];
  const take = async (owner: string, size: number, name = owner) => {
    const taken = await slots.take(owner, size);
    started.push(name);
    return taken!;
  };
  const first = await take('a', 60);
  const own = await take('b', 10);
  const large = take('b', 45, 'large');
  const smaller = [take('b', 1, 'behind it'), take('a', 20, 'of one that has more')];
  void take('c', 20, 'of one that has less');
  await settle();
  t.same(started, ['a', 'b', 'of one that has less']);
  first.release();
  await Promise.all([large, ...smaller]);
  t.same(started.slice(3), ['of one that has more', 'large', 'behind it']);
  own.release();
});

t.test(
  'jobs of a higher rank come first in their own order, and those that have begun are not refused',
  async (t) => {
    const slots = new FairSlots({ count: 1, maxWaiting: 3, maxWaitingOfOne: 1, patienceMs: 20 });
    const first = slots.take('a') as Taken;
    const order: string[] = [];
    const ask = async (name: string, waits: Waits) => {
      const taken = await slots.take('a', 1, waits);
      order.push(taken === null ? `${name} refused` : name);
      taken?.release();
    };
    const asked = [
      ask('plain', {}),
      ask('beyond', {}),
      ask('urgent', { rank: 2 }),
      ask('begun 1', { rank: 1, isBegun: true }),
      ask('begun 2', { rank: 1, isBegun: true }),
      ask('begun and urgent', { rank: 2, isBegun: true }),
    ];
    t.equal(slots.waiting, 5);
    // Longer than the patience of what has not begun.
    await Promise.all(asked.slice(0, 3));
    t.same(order, ['beyond refused', 'plain refused', 'urgent refused']);
    first.release();
    await Promise.all(asked);
    t.same(order.slice(3), ['begun and urgent', 'begun 1', 'begun 2']);
    t.equal(slots.running, 0);
  },
);

t.test('an urgent job is not refused for as many others as may wait', async (t) => {
  const slots = new FairSlots({ count: 1, maxWaiting: 9, maxWaitingOfOne: 1 });
  const first = slots.take('a') as Taken;
  const plain = slots.take('a');
  t.equal(slots.take('a'), null);
  const urgent = slots.take('a', 1, { rank: 2 });
  t.equal(slots.take('a', 1, { rank: 2 }), null);
  first.release();
  t.equal(slots.waiting, 1);
  (await urgent)!.release();
  (await plain)!.release();
  t.equal(slots.running, 0);
});
