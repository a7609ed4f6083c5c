import t from 'tap';
import { type DiffLine, diffLines } from '../../../../../../dashboard/pages/evaluator/versions/lines.ts';

const write = (lines: readonly DiffLine[]) =>
  lines.map(({ kind, parts }) => {
    const text = parts.map((part) => (part.isChanged ? `[${part.text}]` : part.text)).join('');
    return `${{ same: ' ', added: '+', removed: '-' }[kind]}${text}`;
  });

t.test('Lines that changed are shown with the words that differ', async (t) => {
  t.same(write(diffLines('model: a\nIs it good?', 'model: a\nIs it polite?')), [
    ' model: a',
    '-Is it [good]?',
    '+Is it [polite]?',
  ]);
});

t.test('Lines without a counterpart are added or removed as they are', async (t) => {
  t.same(write(diffLines('a\nb', 'a\nb\nc')), [' a', ' b', '+c']);
  t.same(write(diffLines('a\nb', 'b')), ['-a', ' b']);
  t.same(write(diffLines('one', 'two\nthree')), ['-[one]', '+[two]', '+three']);
});

t.test('Equal texts have no change, and an empty line stays', async (t) => {
  t.same(write(diffLines('a\n\nb', 'a\n\nb')), [' a', ' ', ' b']);
});

t.test('Texts of thousands of different lines are shown as replaced, at once', async (t) => {
  const text = (seed: number) => Array.from({ length: 3_000 }, (_, index) => `${seed} ${index}`).join('\n');
  t.equal(diffLines(text(1), text(2)).length, 6_000);
});
