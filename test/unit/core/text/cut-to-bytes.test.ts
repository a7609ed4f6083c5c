import t from 'tap';
import { cutToBytes } from '#core/text/mod.ts';

t.test('a text within the limit is returned unchanged', async (t) => {
  t.equal(cutToBytes('', 4), '');
  t.equal(cutToBytes('äö', 4), 'äö');
});

t.test('a longer text is cut before the character that would exceed the limit', async (t) => {
  t.equal(cutToBytes('abcdef', 4), 'abcd');
  t.equal(cutToBytes('aäöü', 4), 'aä');
  t.equal(cutToBytes('a😀b', 4), 'a');
});

t.test('the mark of a cut counts towards the limit', async (t) => {
  t.equal(cutToBytes('abcdef', 5, '…'), 'ab…');
  t.equal(cutToBytes('abcde', 5, '…'), 'abcde', 'without a cut there is no mark');
});
