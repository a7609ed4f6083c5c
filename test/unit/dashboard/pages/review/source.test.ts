import t from 'tap';
import { FIRST_SOURCE, sourceOf, sourceText } from '../../../../../dashboard/pages/review/source.ts';

const fields = { ...FIRST_SOURCE, q: 'status:200', n: '5', seed: '2', evaluatorId: 'e1' };

t.test('each way to fill a queue sends its own members alone', async (t) => {
  t.same(sourceOf({ ...fields, filling: 'filter' }), { q: 'status:200' });
  t.same(sourceOf({ ...fields, filling: 'sample' }), { q: 'status:200', sample: { n: 5, seed: 2 } });
  t.same(sourceOf({ ...fields, filling: 'disagreement' }), {
    disagreement: { evaluatorId: 'e1' },
    sample: { n: 5, seed: 2 },
  });
  t.same(sourceOf({ ...fields, filling: 'disagreement', n: '' }), { disagreement: { evaluatorId: 'e1' } });
});

t.test('a source is written in words, a filter as query text', async (t) => {
  t.equal(sourceText({ q: '' }), 'all requests');
  t.equal(sourceText({ q: 'status:200', sample: { n: 100, seed: 1 } }), '100 of status:200');
  t.equal(sourceText({ filter: { response: { status: { equals: 200 } } } }), 'status:200');
  t.equal(sourceText({ requestIds: 2 }), '2 named requests');
  t.equal(sourceText({ disagreement: { evaluatorId: 'e1' } }), 'requests with disagreement');
});
