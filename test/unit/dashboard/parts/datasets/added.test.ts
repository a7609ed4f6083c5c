import t from 'tap';
import { addedText } from '../../../../../dashboard/parts/datasets/added.ts';

t.test('what became of added requests is told with the reasons of those left out', async (t) => {
  t.equal(addedText({ version: 1, added: 1, unchanged: 0, skipped: [] }), 'Version 1: 1 item added');
  const skipped = [
    { reason: 'failed' as const, count: 2 },
    { reason: 'no_answer' as const, count: 1 },
  ];
  t.equal(
    addedText({ version: 3, added: 0, unchanged: 4, skipped }),
    'Version 3: 0 items added, 4 there already, 2 left out: failed, 1 left out: without an answer',
  );
});
