import { DateTime } from 'luxon';
import t from 'tap';
import {
  autoUnit,
  bucketBegins,
  isTimeZone,
  mostBuckets,
  previousRange,
  type Unit,
} from '#core/metrics/mod.ts';
import { zonesWithChanges } from '../../../support/clock-changes.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const at = (text: string) => Date.parse(text);
const range = (from: string, to: string) => ({ fromMs: at(from), toMs: at(to) });
const hoursOf = (begins: readonly number[]) =>
  begins.slice(1).map((begin, index) => (begin - begins[index]!) / HOUR_MS);

t.test('a day is 23 hours long where summer time begins, and 25 where it ends', (t) => {
  const spring = bucketBegins(range('2026-03-27T23:00:00Z', '2026-03-31T22:00:00Z'), 'day', 'Europe/Berlin');
  t.same(hoursOf(spring), [24, 23, 24]);
  const autumn = bucketBegins(range('2026-10-23T22:00:00Z', '2026-10-27T23:00:00Z'), 'day', 'Europe/Berlin');
  t.same(hoursOf(autumn), [24, 25, 24]);
  t.end();
});

t.test('the first bucket begins where the clock or the calendar says, before the range', (t) => {
  const middle = range('2026-11-23T07:08:09.010Z', '2026-11-23T07:08:09.011Z');
  const first = (unit: Unit) =>
    bucketBegins(middle, unit, 'Asia/Kathmandu').map((ms) => new Date(ms).toISOString());
  // Local time is 12:53:09, five hours and three quarters ahead.
  t.same(first('minute'), ['2026-11-23T07:08:00.000Z']);
  t.same(first('5m'), ['2026-11-23T07:05:00.000Z']);
  t.same(first('hour'), ['2026-11-23T06:15:00.000Z']);
  t.same(first('day'), ['2026-11-22T18:15:00.000Z']);
  t.same(first('week'), ['2026-11-22T18:15:00.000Z']);
  t.same(first('month'), ['2026-10-31T18:15:00.000Z']);
  t.same(first('none'), ['2026-11-23T07:08:09.010Z']);
  t.end();
});

t.test('an hour that a change of half an hour cuts is two buckets', (t) => {
  // Lord Howe sets its clock back from 02:00 to 01:30, at 15:00 UTC.
  const night = range('2026-04-04T14:00:00Z', '2026-04-04T17:00:00Z');
  t.same(
    bucketBegins(night, 'hour', 'Australia/Lord_Howe').map((ms) => new Date(ms).toISOString()),
    [
      '2026-04-04T14:00:00.000Z',
      '2026-04-04T15:00:00.000Z',
      '2026-04-04T15:30:00.000Z',
      '2026-04-04T16:30:00.000Z',
    ],
  );
  t.same(
    bucketBegins(range('2026-04-04T15:20:00Z', '2026-04-04T15:21:00Z'), 'hour', 'Australia/Lord_Howe'),
    [at('2026-04-04T15:00:00Z')],
    'also when the range begins after the change',
  );
  t.end();
});

t.test('a day that a zone has skipped is no bucket', (t) => {
  const skipped = range('2011-12-29T10:00:00Z', '2011-12-31T10:00:00Z');
  t.same(
    bucketBegins(skipped, 'day', 'Pacific/Apia').map((ms) => new Date(ms).toISOString()),
    ['2011-12-29T10:00:00.000Z', '2011-12-30T10:00:00.000Z'],
  );
  t.end();
});

/** What must be the same in a bucket, and differ between neighbours; and the hours around a change that are compared. */
const LABELS: readonly [unit: Unit, label: (time: DateTime) => string, hours: number][] = [
  ['day', ({ year, ordinal }) => `${year} ${ordinal}`, 30],
  ['week', ({ weekYear, weekNumber }) => `${weekYear} ${weekNumber}`, 30],
  ['month', ({ year, month }) => `${year} ${month}`, 30],
  // The offset, because an hour of the clock comes twice where it is set back.
  ['hour', ({ year, ordinal, hour, offset }) => `${year} ${ordinal} ${hour} ${offset}`, 3],
];

t.test('around every change of the clock of ten years, in every zone, buckets are what luxon says', (t) => {
  const zones = zonesWithChanges(2020, 2030);
  for (const [timeZone, changes] of zones) {
    const wrong: string[] = [];
    for (const change of changes) {
      for (const [unit, label, hours] of LABELS) {
        const around = { fromMs: change - hours * HOUR_MS, toMs: change + hours * HOUR_MS };
        const begins = bucketBegins(around, unit, timeZone);
        const labelAt = (ms: number) => label(DateTime.fromMillis(ms, { zone: timeZone }));
        begins.forEach((begin, index) => {
          const last = (begins[index + 1] ?? around.toMs) - 1;
          const isOne = labelAt(begin) === labelAt(last);
          if (!isOne || labelAt(begin - 1) === labelAt(begin)) {
            wrong.push(`${unit} from ${new Date(begin).toISOString()}`);
          }
        });
      }
    }
    t.same(wrong, [], timeZone);
  }
  t.ok([...zones.values()].flat().length > 300);
  t.end();
});

t.test('automatic buckets are the finest of which a range has at most 200', (t) => {
  const lasting = (ms: number) => autoUnit({ fromMs: 0, toMs: ms });
  t.equal(lasting(1), 'minute');
  t.equal(lasting(200 * 60_000), 'minute');
  t.equal(lasting(200 * 60_000 + 1), '5m');
  t.equal(lasting(7 * DAY_MS), 'hour');
  t.equal(lasting(30 * DAY_MS), 'day');
  t.equal(lasting(365 * DAY_MS), 'week');
  t.equal(lasting(3_650 * DAY_MS), 'month');
  t.end();
});

t.test('no range has more buckets than were counted beforehand', (t) => {
  const units: Unit[] = ['minute', '5m', 'hour', 'day', 'week', 'month', 'none'];
  for (const unit of units) {
    const cut = range('2026-03-28T23:59:59.999Z', '2026-04-01T00:00:00.001Z');
    t.ok(bucketBegins(cut, unit, 'Europe/Berlin').length <= mostBuckets(cut, unit), unit);
  }
  t.end();
});

t.test('the range before is as many months, days or milliseconds long', (t) => {
  const before = (from: string, to: string, timeZone: string) => {
    const { fromMs, toMs } = previousRange(range(from, to), timeZone);
    return [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
  };
  t.same(
    before('2026-02-28T23:00:00Z', '2026-03-31T22:00:00Z', 'Europe/Berlin'),
    ['2026-01-31T23:00:00.000Z', '2026-02-28T23:00:00.000Z'],
    'March in Berlin follows February',
  );
  t.same(
    before('2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z', 'Europe/Berlin'),
    ['2026-03-27T23:00:00.000Z', '2026-03-28T23:00:00.000Z'],
    'a day of 23 hours follows one of 24',
  );
  t.same(
    before('2026-03-29T00:30:00Z', '2026-03-29T02:00:00Z', 'Europe/Berlin'),
    ['2026-03-28T23:00:00.000Z', '2026-03-29T00:30:00.000Z'],
    'other ranges follow one of the same length',
  );
  t.end();
});

t.test('a time zone is a name of the IANA database', (t) => {
  for (const name of ['UTC', 'Europe/Berlin', 'america/new_york', 'Etc/GMT+5', 'Asia/Kathmandu']) {
    t.ok(isTimeZone(name), name);
  }
  for (const name of ['', '+02:00', 'Berlin', 'Europe/', 'UTC+2', 'Europe/Berlin\0', 'x'.repeat(64)]) {
    t.notOk(isTimeZone(name), JSON.stringify(name));
  }
  t.end();
});
