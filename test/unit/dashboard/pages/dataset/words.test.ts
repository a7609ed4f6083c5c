import t from 'tap';
import { changesText, exportName } from '../../../../../dashboard/pages/dataset/words.ts';

t.test('a change names what was done, without what was not', async (t) => {
  t.equal(
    changesText({ version: 2, added: 3, changed: 0, unchanged: 1, removed: 0 }),
    'Version 2: 3 added, 1 unchanged',
  );
  t.equal(
    changesText({ version: 1, added: 0, changed: 0, unchanged: 0, removed: 0 }),
    'Version 1: nothing changed',
  );
});

t.test('the file of an export has letters and digits of the name alone', async (t) => {
  t.equal(exportName('Refunds, of 2026!', 7), 'Refunds-of-2026-v7.jsonl');
  t.equal(exportName('../../etc', 1), 'etc-v1.jsonl');
  t.equal(exportName('<>', 1), 'dataset-v1.jsonl');
});
