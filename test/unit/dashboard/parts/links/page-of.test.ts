import t from 'tap';
import { pageOf, requestsOf } from '../../../../../dashboard/parts/links/page-of.ts';

t.test('The address of a session or a user has its id escaped', async (t) => {
  t.equal(pageOf('session', 'a/b?c'), '/sessions/a%2Fb%3Fc');
  t.equal(pageOf('user', 'ada'), '/users/ada');
  t.equal(
    pageOf('user', '\ud800'),
    `/users/${encodeURIComponent('\ufffd')}`,
    'half a pair does not break the page',
  );
});

t.test('An id that browsers take for a step leads to the requests', async (t) => {
  for (const id of ['', '.', '..']) t.match(pageOf('session', id), /^\/requests\?q=session:/);
});

t.test('The requests of a user are found by a query in a range', async (t) => {
  t.equal(requestsOf('user', 'ada', '24h'), '/requests?q=user:ada&range=24h');
});
