import t from 'tap';
import { ApiFailure } from '../../../../../dashboard/client/call.ts';
import { besideBar } from '../../../../../dashboard/parts/query-bar/beside-bar.ts';

const failure = (status: number) => new ApiFailure('no', { status, requestId: null, retryAfterS: null });

t.test('only the refusal of a query with a mistake is left to the bar', async (t) => {
  const refusal = failure(400);
  t.equal(besideBar(refusal, 'status:abc'), null);
  t.equal(besideBar(refusal, 'status:500'), refusal, 'it was refused for another reason');
  t.equal(besideBar(null, 'status:500'), null);
  for (const status of [0, 403, 500, 503]) {
    const other = failure(status);
    t.equal(besideBar(other, 'status:abc'), other, String(status));
  }
});
