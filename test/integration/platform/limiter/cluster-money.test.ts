/** Four processes on one database, each with its own holds. A call costs 100 or so, a tenth more or less than was thought. */
import t from 'tap';
import { type Admission, IS_FULL, limitsOf, mostInWindow, startCluster } from './cluster.ts';
import { ESTIMATES_NANO } from './member.ts';

const cluster = await startCluster(t);
const sum = (calls: readonly Admission[]) => calls.reduce((total, { amount }) => total + amount, 0);

t.test('processes that live spend the quota, and no more than a call beyond it', async (t) => {
  const quotas = [IS_FULL ? 5_000_000 : 250_000, 100_000, 33_333, 5_000, 700, 150, 1];
  const admitted = await cluster.calm(t, limitsOf(quotas, 3_600, 'cents'));
  quotas.forEach((quota, place) => {
    const spent = sum(admitted[place]!);
    // Each call is counted with the smaller one of estimate and cost here, a tenth below what is reserved at most.
    t.ok(spent >= 0.85 * quota, `of ${quota}, ${spent} were spent`);
    t.ok(spent < quota + ESTIMATES_NANO.most, 'and no more');
  });
});

t.test('processes that are killed and frozen at any moment never spend more in any interval', async (t) => {
  const limits = [
    ...limitsOf(IS_FULL ? [5_000_000] : [300_000], IS_FULL ? 10 : 5, 'cents'),
    ...limitsOf([60_000, 4_000, 300], 2, 'cents'),
    ...limitsOf([30_000, 6_000, 500, 1], 1, 'cents'),
    ...limitsOf([90_000, 1_000], 5, 'cents'),
  ];
  const admitted = await cluster.killed(t, limits);
  limits.forEach(({ policy }, place) => {
    const calls = admitted[place]!;
    const most = mostInWindow(calls, policy.windowS * 1_000);
    t.ok(
      most < policy.quota + ESTIMATES_NANO.most,
      `${policy.quota} in ${policy.windowS} s: ${most} at most, ${sum(calls)} in all by ${calls.length} calls`,
    );
  });
  // Of a window of a second a sub-bucket is 10 ms: on a busy machine all answers may come behind its end.
  const used = admitted.filter((calls) => calls.length > 0).length;
  t.ok(used > limits.length / 2, `something was spent of ${used} of ${limits.length}`);
});
