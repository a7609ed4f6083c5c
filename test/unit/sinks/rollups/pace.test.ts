/** The pace of recomputation. */
import t from 'tap';
import { restMs } from '../../../../sinks/rollups/pace.ts';

const dutyOf = (workedMs: number, lateness: number) => workedMs / (workedMs + restMs(workedMs, lateness));

t.test('recomputation in time takes a twentieth of a core, and rests a second at least', async (t) => {
  t.equal(restMs(100, 1), 1_900);
  t.equal(restMs(100, 2), 1_900);
  t.equal(restMs(1, 1), 1_000);
  t.equal(restMs(0, 0), 1_000);
});

t.test('the further recomputation is behind, the more of a core it takes, up to three tenths', async (t) => {
  const duties = [2, 2.5, 3, 3.5, 4].map((lateness) => dutyOf(100, lateness));
  t.same(
    duties,
    duties.toSorted((left, right) => left - right),
  );
  t.equal(new Set(duties).size, duties.length);
  t.ok(Math.abs(dutyOf(100, 4) - 0.3) < 1e-9);
  t.equal(dutyOf(100, 1_000), dutyOf(100, 4));
  t.equal(restMs(1, 3), 100, 'short work does not wait for a second then');
});

t.test('no rest is longer than two minutes', async (t) => {
  t.equal(restMs(60_000, 0), 120_000);
});
