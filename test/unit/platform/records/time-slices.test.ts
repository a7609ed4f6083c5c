import t from 'tap';
import { TimeSlices } from '#platform/records/mod.ts';

const DAY_MS = 86_400_000;
const LOOK_MS = 10_000;

t.test('a walk looks at all that is left until that takes too long', async (t) => {
  const slices = new TimeSlices(LOOK_MS);
  t.equal(slices.floorOf('a', 90 * DAY_MS), null);
  t.ok(slices.shorten('a', 90 * DAY_MS, 10 * DAY_MS));
  t.equal(slices.floorOf('a', 90 * DAY_MS), 80 * DAY_MS);
  t.ok(slices.shorten('a', 90 * DAY_MS, 10 * DAY_MS));
  t.equal(slices.floorOf('a', 90 * DAY_MS), (90 - 1.25) * DAY_MS);
  t.equal(slices.floorOf('another', 90 * DAY_MS), null);
});

t.test('quick slices make the next ones longer, slow ones do not', async (t) => {
  let nowMs = 0;
  const slices = new TimeSlices(LOOK_MS, { monotonic: () => nowMs });
  const look = (tookMs: number) =>
    slices.timed('a', async () => {
      nowMs += tookMs;
    });
  await look(1);
  t.equal(slices.floorOf('a', 80 * DAY_MS), null);
  slices.shorten('a', 80 * DAY_MS, 0);
  await look(5_000);
  t.equal(slices.floorOf('a', 80 * DAY_MS), 70 * DAY_MS);
  await look(999);
  t.equal(slices.floorOf('a', 70 * DAY_MS), 30 * DAY_MS);
});

t.test('a walk comes to its end also where every third look is cancelled, short as it is', async (t) => {
  const LONGEST_MS = 10 * 60_000;
  const slices = new TimeSlices(LOOK_MS, { monotonic: () => 0 });
  let fromMs: number | null = DAY_MS;
  let looks = 0;
  for (; fromMs !== null && looks < 5_000; looks += 1) {
    const floorMs = slices.floorOf('a', fromMs);
    if (looks % 3 === 0 || fromMs - (floorMs ?? 0) > LONGEST_MS) {
      slices.shorten('a', fromMs, 0);
      continue;
    }
    await slices.timed('a', async () => {});
    fromMs = floorMs;
  }
  t.equal(fromMs, null);
  t.ok(looks < 10 * (DAY_MS / LONGEST_MS), `${looks} looks`);
});

t.test('the last slice has all that is left, also what is older than was known', async (t) => {
  const slices = new TimeSlices(LOOK_MS);
  slices.shorten('a', 80 * DAY_MS, 0);
  t.equal(slices.floorOf('a', 10 * DAY_MS + 1), 1);
  t.equal(slices.floorOf('a', 10 * DAY_MS), null);
});

t.test('a slice of a millisecond is not made shorter, nor one of nothing', async (t) => {
  const slices = new TimeSlices(LOOK_MS);
  let times = 0;
  while (slices.shorten('a', DAY_MS, 0)) times += 1;
  t.equal(times, 9, 'eight eighths of a day are five milliseconds');
  t.equal(slices.floorOf('a', DAY_MS), DAY_MS - 1);
  t.notOk(slices.shorten('b', 5, 5));
  t.notOk(slices.shorten('c', 5, null));
});
