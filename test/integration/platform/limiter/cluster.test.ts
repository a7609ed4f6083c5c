/** Four processes on one database, each with its own leases. */
import t from 'tap';
import { IS_FULL, limitsOf, mostInWindow, startCluster } from './cluster.ts';

const cluster = await startCluster(t);

t.test('four processes that are never killed together admit exactly the quota of calls', async (t) => {
  const quotas = [IS_FULL ? 50_000 : 2_500, 1_000, 333, 50, 7, 2, 1];
  const admitted = await cluster.calm(t, limitsOf(quotas, 3_600));
  t.same(
    admitted.map((calls) => calls.length),
    quotas,
  );
});

t.test(
  'four processes that are killed and frozen at random never admit more calls than the quota in any interval',
  async (t) => {
    const limits = [
      ...limitsOf(IS_FULL ? [50_000] : [3_000], IS_FULL ? 10 : 5),
      ...limitsOf([600, 40, 3], 2),
      ...limitsOf([300, 60, 5, 1], 1),
      ...limitsOf([900, 10], 5),
    ];
    const admitted = await cluster.killed(t, limits);
    limits.forEach(({ policy }, place) => {
      const most = mostInWindow(admitted[place]!, policy.windowS * 1_000);
      t.ok(
        most <= policy.quota,
        `${policy.quota} in ${policy.windowS} s: ${most} at most, ${admitted[place]!.length} in all`,
      );
      t.ok(admitted[place]!.length > 0, 'some were admitted');
    });
  },
);
