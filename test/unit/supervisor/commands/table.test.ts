import t from 'tap';
import { table } from '../../../../supervisor/commands/table.ts';

t.test('a table aligns each column to its widest cell, and no line ends in spaces', async (t) => {
  const text = table(
    ['key', 'organization'],
    [
      ['sk-assay-1', 'a'],
      ['x', 'acme'],
    ],
  );
  t.same(text.split('\n'), ['key         organization', 'sk-assay-1  a', 'x           acme']);
});

t.test('a table without rows is its header alone', async (t) => {
  t.equal(table(['key', 'name'], []), 'key  name');
});
