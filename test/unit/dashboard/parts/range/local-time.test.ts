import t from 'tap';
import { faultOf, momentOf, toLocalField } from '../../../../../dashboard/parts/range/local-time.ts';

t.test('A moment in a field is read back to the minute, in any time zone', async (t) => {
  const moment = Date.parse('2026-11-01T10:20:00Z');
  t.match(toLocalField(moment + 30_000), /^2026-\d\d-\d\dT\d\d:\d\d$/);
  t.equal(momentOf(toLocalField(moment + 30_000), 0), moment);
});

t.test('An empty field is no moment', async (t) => {
  t.equal(momentOf('', 0), null);
  t.equal(faultOf(null, 1), 'Both moments are needed');
  t.equal(faultOf(1, null), 'Both moments are needed');
});

t.test('A range that does not end after its beginning is refused', async (t) => {
  t.equal(faultOf(1, 1), 'The range must end after its beginning');
  t.equal(faultOf(1, 2), null);
});

t.test(
  'A field that nobody changed keeps its moment, with its seconds and in the second hour of two',
  async (t) => {
    const zone = process.env.TZ;
    t.teardown(() => {
      process.env.TZ = zone ?? '';
    });
    process.env.TZ = 'Europe/Berlin';
    // The clock shows 02:30 twice on this day.
    const [first, second] = ['2026-10-25T00:30:07.123Z', '2026-10-25T01:30:07.123Z'].map(Date.parse) as [
      number,
      number,
    ];
    t.equal(toLocalField(first), toLocalField(second));
    for (const moment of [first, second]) t.equal(momentOf(toLocalField(moment), moment), moment);
    t.equal(momentOf('2026-10-25T12:00', second), Date.parse('2026-10-25T11:00:00Z'));
  },
);
