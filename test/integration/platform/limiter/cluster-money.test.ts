/** Four processes on one database, each with its own holds. A call costs about 100, up to a tenth off its estimate. */
import t from 'tap';
import { type Admission, IS_FULL, limitsOf, mostInWindow, startCluster } from './cluster.ts';
import { ESTIMATES_NANO } from './member.ts';

const cluster = await startCluster(t);
const sum = (calls: readonly Admission[]) => calls.reduce((total, { amount }) => total + amount, 0);

t.test(
  'four processes that are never killed together spend the quota of money, and at most one call beyond it',
  async (t) => {
    const quotas = [IS_FULL ? 5_000_000 : 250_000, 100_000, 33_333, 5_000, 700, 150, 1];
    const admitted = await cluster.calm(t, limitsOf(quotas, 3_600, 'cents'));
    quotas.forEach((quota, place) => {
      const spent = sum(admitted[place]!);
      // Here each call counts with the smaller of estimate and cost, at most a tenth below what is reserved.
      t.ok(spent >= 0.85 * quota, `of ${quota}, ${spent} were spent`);
      t.ok(spent < quota + ESTIMATES_NANO.most, `of ${quota}, no more than a call beyond it`);
    });
  },
);

t.test(
  'four processes that are killed and frozen at random never spend more than the quota and one call in any interval',
  async (t) => {
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
    // A window of a second has sub-buckets of 10 ms: on a busy machine all holds may arrive expired.
    const used = admitted.filter((calls) => calls.length > 0).length;
    t.ok(used > limits.length / 2, `something was spent of ${used} of ${limits.length}`);
  },
);
