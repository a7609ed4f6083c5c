import t from 'tap';
import { codeOf, gradeOf, type Kind, passingOf } from '#core/grades/mod.ts';

const BOOLEAN: Kind = { type: 'boolean' };
const TENTHS: Kind = { type: 'scale', min: 0, max: 1, step: 0.1 };
const FREE: Kind = { type: 'scale', min: -2, max: 2, step: null };
const labels = (...scores: (number | null)[]): Kind => ({
  type: 'categories',
  labels: scores.map((score, index) => ({ label: `Label ${index}`, score })),
});

t.test('a grade comes back from its number as it was given', async (t) => {
  const GRADES: [Kind, boolean | number | string][] = [
    [BOOLEAN, true],
    [BOOLEAN, false],
    [FREE, 0.123456789],
    [labels(null, null), 'Label 1'],
    ...Array.from({ length: 11 }, (_, tenths): [Kind, number] => [TENTHS, tenths / 10]),
  ];
  for (const [kind, grade] of GRADES) {
    const coded = codeOf(kind, grade);
    t.ok('code' in coded && gradeOf(kind, coded.code) === grade, JSON.stringify([kind, grade]));
  }
});

t.test('equal steps are equal numbers, however they were computed', async (t) => {
  t.same(codeOf(TENTHS, 0.1 + 0.2), codeOf(TENTHS, 0.3));
  t.same(codeOf(labels(null, null), ' LABEL 1 '), { code: 1 });
  t.same(codeOf({ type: 'scale', min: 0, max: 0.3, step: 0.1 }, 0.1 + 0.2), { code: 0.3 });
  t.same(codeOf({ type: 'scale', min: -0.3, max: 0, step: 0.1 }, -0.1 - 0.2), { code: -0.3 });
});

t.test('a grade that the criterion does not have is refused with its rule', async (t) => {
  const REFUSED: [Kind, boolean | number | string, RegExp][] = [
    [BOOLEAN, 1, /^must be true or false, but is 1$/],
    [BOOLEAN, 'true', /^must be true or false, but is "true"$/],
    [FREE, true, /^must be a number from -2 to 2, but is true$/],
    [FREE, 2.0001, /from -2 to 2/],
    [FREE, Number.POSITIVE_INFINITY, /from -2 to 2/],
    [TENTHS, 1.1, /from 0 to 1/],
    [TENTHS, 1.01, /from 0 to 1/],
    [TENTHS, -0.1, /from 0 to 1/],
    [TENTHS, 0.25, /^must be 0 and a whole number of steps of 0.1, but is 0.25$/],
    [labels(null, null), 'Label 2', /^must be one of "Label 0", "Label 1", but is "Label 2"$/],
    [labels(null, null), 0, /^must be one of/],
  ];
  for (const [kind, value, sentence] of REFUSED) {
    const coded = codeOf(kind, value);
    t.match('rule' in coded ? coded.rule : 'taken', sentence);
  }
});

t.test('true, the upper half of a scale, and labels of the upper half of scores pass', async (t) => {
  t.same(passingOf(BOOLEAN), { from: 1 });
  t.same(passingOf(FREE), { from: 0 });
  const fine: Kind = { type: 'scale', min: 1.1, max: 1.3, step: 0.1 };
  t.same(passingOf(fine), { from: 1.2 }, 'halves of 1.1 and 1.3 add up to more than 1.2');
  t.same(codeOf(fine, 1.2), { code: 1.2 });
  t.same(passingOf(labels(0, 0.5, 1)), { labels: [1, 2] });
  t.same(passingOf(labels(1.1, 1.2, 1.3)), { labels: [1, 2] });
  t.same(passingOf(labels(3, 0)), { labels: [0] });
  t.equal(passingOf(labels(0, null)), null);
});
