import t from 'tap';
import { faultOf, fromLocalField, toLocalField } from '../../../../../dashboard/parts/range/local-time.ts';

t.test('A moment in a field is read back to the minute, in any time zone', async (t) => {
  const moment = Date.parse('2026-11-01T10:20:00Z');
  t.match(toLocalField(moment + 30_000), /^2026-\d\d-\d\dT\d\d:\d\d$/);
  t.equal(fromLocalField(toLocalField(moment + 30_000)), moment);
});

t.test('An empty field is no moment', async (t) => {
  t.equal(fromLocalField(''), null);
  t.equal(faultOf('', '2026-11-01T10:00'), 'Both moments are needed');
});

t.test('A range that does not end after its beginning is refused', async (t) => {
  t.equal(faultOf('2026-11-01T10:00', '2026-11-01T10:00'), 'The range must end after its beginning');
  t.equal(faultOf('2026-11-01T10:00', '2026-11-01T10:01'), null);
});
