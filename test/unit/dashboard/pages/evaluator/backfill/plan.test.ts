import t from 'tap';
import type { Run, Stats } from '../../../../../../dashboard/client/evaluators.ts';
import {
  estimateDuration,
  planQuery,
  progressOf,
  readPlan,
  runBody,
  toScore,
} from '../../../../../../dashboard/pages/evaluator/backfill/plan.ts';

const plan = readPlan({});
const run: Run = {
  id: 'r',
  version: 1,
  state: 'completed',
  filter: 'all',
  limit: 10,
  sample: null,
  max_cost_usd: null,
  cost_usd: 0,
  batch: false,
  experiments: null,
  looking_for: null,
  reached: null,
  scheduled: 10,
  completed: 8,
  failed: 2,
  skipped: 0,
  cancelled: 0,
  pending: 0,
  created_at: '2026-11-01T00:00:00.000Z',
  updated_at: '2026-11-01T00:00:20.000Z',
};

t.test('A run of an address without anything is of the newest thousand of all requests', async (t) => {
  t.same(runBody(plan), { filter: 'all', limit: 1000 });
});

t.test('A plan is the same after it was in the address', async (t) => {
  const full = { q: 'status:200', how: 'sample', n: '50', seed: '7', maxCost: '2.5', isBatch: true } as const;
  const query = Object.fromEntries(Object.entries(planQuery(full)).filter(([, value]) => value !== null));
  t.same(readPlan(query as Record<string, string>), full);
  t.same(runBody(full), { q: 'status:200', sample: { n: 50, seed: 7 }, maxCost: 2.5, batch: true });
  t.same(Object.values(planQuery(plan)), [null, null, null, null, null, null]);
});

t.test('A plan without a number has no limit', async (t) => {
  t.same(runBody({ ...plan, n: '' }), { filter: 'all' });
});

t.test('What is scored already counts neither to the number nor beyond it', async (t) => {
  const answer = { matching: 100, already_scored: 40, estimated_cost_usd: null };
  t.equal(toScore(answer, { n: '1000' }), 60);
  t.equal(toScore(answer, { n: '10' }), 10);
  t.equal(toScore(answer, { n: '' }), 60);
  t.equal(toScore({ ...answer, already_scored: 200 }, { n: '' }), 0);
});

t.test(
  'The duration is estimated by the last run that ended, else by the latency of the judge',
  async (t) => {
    const stats = { judge: { latency_ms: { p50: 300 } } } as Stats;
    t.match(estimateDuration(100, { runs: [run], stats }), { ms: 200_000, basis: /last run/ });
    const open = { ...run, state: 'running' } as const;
    const small = { ...run, completed: 2, failed: 0 };
    t.match(estimateDuration(100, { runs: [open, small], stats }), { ms: 30_000, basis: /one call/ });
    t.equal(estimateDuration(100, { runs: [], stats: null }), null);
  },
);

t.test('Progress is the share of what was scheduled that does not wait', async (t) => {
  t.equal(progressOf({ ...run, pending: 4 }), 0.6);
  t.equal(progressOf({ ...run, scheduled: 0 }), 0);
});
