import t from 'tap';
import { indent } from '../../../../../../dashboard/pages/evaluator/definition/indent.ts';

t.test('Tab fills up to the next fourth column where the cursor is', async (t) => {
  t.same(indent('ab', { start: 2, end: 2, isBack: false }), { text: 'ab  ', start: 4, end: 4 });
  t.same(indent('x\n', { start: 2, end: 2, isBack: false }), { text: 'x\n    ', start: 6, end: 6 });
});

t.test('Tab indents every selected line except empty ones, and keeps the selection', async (t) => {
  t.same(indent('a\n\nb\nc', { start: 0, end: 4, isBack: false }), {
    text: '    a\n\n    b\nc',
    start: 4,
    end: 12,
  });
});

t.test('Shift and Tab take an indent away, as far as there is one', async (t) => {
  t.same(indent('      a\n  b', { start: 7, end: 7, isBack: true }), { text: '  a\n  b', start: 3, end: 3 });
  t.same(indent('    a\n  b', { start: 0, end: 9, isBack: true }), { text: 'a\nb', start: 0, end: 3 });
  t.same(indent('a', { start: 1, end: 1, isBack: true }), { text: 'a', start: 1, end: 1 });
});
