import t from 'tap';
import { queryFault } from '../../../../../dashboard/parts/form/query-fault.ts';

t.test('A mistake in a query text is told in the sentence of the API', async (t) => {
  t.equal(queryFault('status:abc'), 'q at offset 7, length 3 ("abc"): status must be a number, but is "abc"');
});

t.test('A query text that can be read, and an empty one, have no mistake', async (t) => {
  t.equal(queryFault('status:>=500 -user:bot'), null);
  t.equal(queryFault(''), null);
});
