import t from 'tap';
import { parseQuery } from '#core/filter/query-text/mod.ts';
import { filterText } from '../../../../../dashboard/parts/formats/filters.ts';

t.test('A stored filter is shown as the query text that it stands for', async (t) => {
  for (const q of ['status:200', 'status:(200 OR 201) -user:bot', 'property."user tier":pro'])
    t.equal(filterText(parseQuery(q)), q);
});

t.test('Every request is the empty text', async (t) => {
  t.equal(filterText('all'), '');
  t.equal(filterText(null), '');
});

t.test('A filter that has no text is shown as its JSON', async (t) => {
  t.equal(filterText({ unknown: { field: { equals: 5 } } }), '{"unknown":{"field":{"equals":5}}}');
});
