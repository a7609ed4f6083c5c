import t from 'tap';
import { marksOf, reachOf } from '../../../../../dashboard/pages/experiment-comparison/plot.ts';

const row = (
  direction: 'higher' | 'lower',
  difference: number | null,
  low: number,
  high: number,
  metric = 'score',
) => ({
  metric,
  direction,
  difference,
  interval: { low, high, method: 'bca' as const },
});

t.test('zero is in the middle, and to the right is better for metrics of both directions', async (t) => {
  const gain = row('higher', 0.5, 0.2, 0.8);
  const loss = row('lower', 0.5, 0.2, 0.8);
  t.same(marksOf(gain, 1, null), { dot: 75, interval: { from: 60, to: 90 }, margin: null });
  t.same(marksOf(loss, 1, null), { dot: 25, interval: { from: 10, to: 40 }, margin: null });
  t.equal(marksOf(row('higher', 0, -1, 1), 1, null).dot, 50);
});

t.test('the margin is a loss, drawn for scores alone', async (t) => {
  t.equal(marksOf(row('higher', 0, -1, 1), 1, 0.2).margin, 40);
  t.equal(marksOf(row('lower', 0, -1, 1), 1, 0.2).margin, 40);
  t.equal(marksOf(row('lower', 0, -1, 1, 'cost_usd'), 1, 0.2).margin, null);
});

t.test('the rows of a metric share a scale that holds all of them and the margin', async (t) => {
  const rows = [row('higher', 0.1, -0.2, 0.3), row('higher', -0.1, -0.5, 0.2)];
  t.ok(Math.abs(reachOf(rows, null) - 0.55) < 1e-12);
  t.ok(Math.abs(reachOf(rows, 1) - 1.1) < 1e-12);
  t.equal(reachOf([{ metric: 'score', direction: 'higher', difference: null, interval: null }], null), 1);
});

t.test('what was not measured has no mark', async (t) => {
  const none = { metric: 'score', direction: 'higher', difference: null, interval: null } as const;
  t.same(marksOf(none, 1, null), { dot: null, interval: null, margin: null });
});
