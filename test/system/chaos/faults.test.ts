import t from 'tap';
import { COUNTING_MS, FAULT_KINDS, type Fault, GATEWAYS, planFaults } from './faults.ts';

const MINUTE_MS = 60_000;
const SEEDS = Array.from({ length: 50 }, (_, index) => index * 7_919);

function plansOf(minutes: number): Fault[][] {
  return SEEDS.map((seed) => planFaults(seed, minutes * MINUTE_MS));
}

function endOf({ atMs, forMs }: Fault): number {
  return atMs + forMs;
}

function stops({ kind }: Fault): boolean {
  return ['kill', 'terminate', 'empty', 'crash'].includes(kind);
}

t.test('the plan of faults is the same for a seed, and another for another seed', async (t) => {
  t.same(planFaults(7, 3 * MINUTE_MS), planFaults(7, 3 * MINUTE_MS));
  t.notSame(planFaults(7, 3 * MINUTE_MS), planFaults(8, 3 * MINUTE_MS));
});

t.test('a run of a minute meets every kind of fault, and all are over at its end', async (t) => {
  const plans = plansOf(1);
  const kinds = plans.map((plan) => new Set(plan.map(({ kind }) => kind)).size);
  t.same(new Set(kinds), new Set([FAULT_KINDS.length]));
  t.same(
    plans.flat().filter((fault) => endOf(fault) > MINUTE_MS),
    [],
  );
});

t.test('a run of a quarter of an hour stops processes more than a hundred times', async (t) => {
  const fewest = Math.min(...plansOf(15).map((plan) => plan.filter(stops).length));
  t.ok(fewest > 100, `at least ${fewest} times`);
});

t.test('a target has one fault at a time, and none while what a full disk refused is counted', async (t) => {
  const tooEarly = plansOf(10).flatMap((plan) =>
    plan.filter((fault, index) =>
      plan
        .slice(0, index)
        .some(
          (before) =>
            before.target === fault.target &&
            endOf(before) + (before.kind === 'fill' ? COUNTING_MS : 0) > fault.atMs,
        ),
    ),
  );
  t.same(tooEarly, []);
});

t.test('while Postgres is cut, the plan leaves one gateway running', async (t) => {
  const without = plansOf(30).flatMap((plan) => {
    const downs = plan.filter((fault) => stops(fault) && fault.target.startsWith('gateway'));
    return plan.filter((outage) => {
      if (outage.target !== 'postgres') return false;
      const down = downs.filter((fault) => fault.atMs < endOf(outage) && endOf(fault) > outage.atMs);
      return new Set(down.map(({ target }) => target)).size === GATEWAYS.length;
    });
  });
  t.same(without, []);
});

t.test('in a long run Postgres is cut for up to a minute', async (t) => {
  const cuts = planFaults(1, 60 * MINUTE_MS).filter(({ kind }) => kind === 'cut');
  const longest = Math.max(...cuts.map(({ forMs }) => forMs));
  t.ok(longest > 40_000 && longest <= 60_000, `${longest} ms`);
});
