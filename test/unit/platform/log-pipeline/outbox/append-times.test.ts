import t from 'tap';
import { AppendTimes } from '#platform/log-pipeline/outbox/mod.ts';

t.test('the oldest entry that is not stored is dated between the marks around it', async (t) => {
  const times = new AppendTimes(0);
  times.note(10, 1_000);
  times.note(30, 2_000);
  t.equal(times.oldestAfter(0, 30, 5_000), 100, 'the first of ten that came evenly in the first second');
  t.equal(times.oldestAfter(9, 30, 5_000), 1_000);
  t.equal(times.oldestAfter(10, 30, 5_000), 1_050);
  t.equal(times.oldestAfter(29, 30, 5_000), 2_000);
});

t.test('an entry since the last mark is dated between it and now', async (t) => {
  const times = new AppendTimes(0);
  times.note(10, 1_000);
  t.equal(times.oldestAfter(10, 12, 1_400), 1_200);
  t.equal(times.oldestAfter(11, 12, 1_400), 1_400);
});

t.test('an outbox that was idle does not date its next entry into the idle time', async (t) => {
  const times = new AppendTimes(0);
  times.note(1, 1_000);
  for (let second = 2; second <= 3_600; second += 1) times.note(1, second * 1_000);
  times.note(2, 3_601_000);
  t.equal(times.oldestAfter(1, 2, 3_601_500), 3_601_000);
});

t.test('after a day without storing, the age of the oldest entry is still exact to a minute', async (t) => {
  const times = new AppendTimes(0);
  for (let second = 1; second <= 86_400; second += 1) times.note(second * 7, second * 1_000);
  const appended = 86_400 * 7;
  for (const stored of [0, 70_000, 300_000, appended - 1]) {
    const at = times.oldestAfter(stored, appended, 86_400_000);
    t.ok(Math.abs(at - (stored / 7) * 1_000) < 60_000, `${stored} stored`);
  }
});
