import t from 'tap';
import { bodyOf, readPage } from '../../../../../dashboard/pages/users/query.ts';

const ASKED = { q: '', range: { from: 1_000, to: 5_000 }, sort: null, page: 1 };

t.test('A page of users is asked for in seconds, with its offset', async (t) => {
  t.match(bodyOf({ ...ASKED, page: 3 }), {
    timeFilter: { startTimeUnixSeconds: 1, endTimeUnixSeconds: 5 },
    offset: 100,
    limit: 50,
  });
  t.notOk('q' in bodyOf(ASKED));
  t.equal(bodyOf({ ...ASKED, q: 'model:a' }).q, 'model:a');
});

t.test('An order that there is not is left out', async (t) => {
  t.same(bodyOf({ ...ASKED, sort: { column: 'cost', descending: true } }).sort, { cost: 'desc' });
  t.notOk('sort' in bodyOf({ ...ASKED, sort: { column: 'toString', descending: false } }));
});

t.test('An address that names no page gets the first', async (t) => {
  t.same([undefined, '0', 'x', '7'].map(readPage), [1, 1, 1, 7]);
});
