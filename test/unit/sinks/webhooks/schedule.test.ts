import t from 'tap';
import { nextWaitMs, RETRY_WAITS_MS, restMs } from '../../../../sinks/webhooks/schedule.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

t.test('the schedule is that of Standard Webhooks: ten attempts, the last after 75:35:05', (t) => {
  t.equal(RETRY_WAITS_MS.length, 10);
  const sumMs = RETRY_WAITS_MS.reduce((sum, waitMs) => sum + waitMs, 0);
  t.equal(sumMs, 75 * HOUR_MS + 35 * MINUTE_MS + 5_000);
  t.equal(nextWaitMs(1, null, { random: () => 0 }), 5_000, 'the second attempt follows after 5 seconds');
  t.equal(nextWaitMs(9, null, { random: () => 0 }), 24 * HOUR_MS);
  t.equal(nextWaitMs(10, null), null, 'there is no eleventh');
  t.end();
});

t.test('jitter makes a wait up to a fifth longer, and never shorter', (t) => {
  t.equal(nextWaitMs(2, null, { random: () => 0.999999 }), 6 * MINUTE_MS);
  for (let draw = 0; draw < 1_000; draw += 1) {
    const waitMs = nextWaitMs(2, null)!;
    if (waitMs < 5 * MINUTE_MS || waitMs > 6 * MINUTE_MS) t.fail(String(waitMs));
  }
  t.end();
});

t.test('Retry-After makes a wait longer, up to a day, and never shorter', (t) => {
  const random = () => 0;
  t.equal(nextWaitMs(1, 60_000, { random }), 60_000);
  t.equal(nextWaitMs(1, 1_000, { random }), 5_000);
  t.equal(nextWaitMs(1, Number.POSITIVE_INFINITY, { random }), 24 * HOUR_MS);
  t.end();
});

t.test('only 429, and 503 that says how long, let the whole webhook rest, for an hour at most', (t) => {
  t.equal(restMs(429, null), 5_000);
  t.equal(restMs(429, 30_000), 30_000);
  t.equal(restMs(503, 30_000), 30_000);
  t.equal(restMs(503, null), 0);
  t.equal(restMs(500, 30_000), 0);
  t.equal(restMs(null, null), 0);
  t.equal(restMs(429, Number.POSITIVE_INFINITY), HOUR_MS);
  t.end();
});
