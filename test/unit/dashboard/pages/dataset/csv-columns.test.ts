import t from 'tap';
import { columnNames, firstMeaning, isKnown } from '../../../../../dashboard/pages/dataset/csv-columns.ts';

t.test('the first line names the columns, with quotation marks as RFC 4180 has them', async (t) => {
  t.same(columnNames('question,expected\r\nMay I?,yes'), ['question', 'expected']);
  t.same(columnNames('\uFEFF"a, b","say ""x""",c\n1,2,3'), ['a, b', 'say "x"', 'c']);
  t.same(columnNames('a,,b'), ['a', 'b'], 'columns without a name are passed over');
  t.same(columnNames(''), []);
});

t.test('a column of an unknown name is guessed by it, or kept as metadata', async (t) => {
  t.ok(['input', 'expected', 'metadata.source'].every(isKnown));
  t.notOk(['question', 'Input', 'toString'].some(isKnown));
  t.equal(firstMeaning('Question'), 'input');
  t.equal(firstMeaning('answer'), 'expected');
  t.equal(firstMeaning('source'), 'metadata.source');
  t.equal(firstMeaning('constructor'), 'metadata.constructor');
});
