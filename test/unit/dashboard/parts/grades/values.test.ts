import t from 'tap';
import { choicesOf, kindText, valueText } from '../../../../../dashboard/parts/grades/values.ts';

const keysOf = (kind: Parameters<typeof choicesOf>[0]) =>
  choicesOf(kind)?.map(({ key, label }) => `${key ?? ''}=${label}`);

t.test('yes and no have the first two digits', async (t) => {
  t.same(keysOf({ type: 'boolean' }), ['1=Yes', '2=No']);
});

t.test('a digit of a scale chooses the value that it is, where all values are digits', async (t) => {
  t.same(keysOf({ type: 'scale', min: 0, max: 3, step: 1 }), ['0=0', '1=1', '2=2', '3=3']);
  t.same(keysOf({ type: 'scale', min: 2, max: 4, step: 1 }), ['2=2', '3=3', '4=4']);
});

t.test('a digit of another scale chooses the value at its place', async (t) => {
  t.same(keysOf({ type: 'scale', min: 0, max: 0.3, step: 0.1 }), ['1=0', '2=0.1', '3=0.2', '4=0.3']);
  t.equal(choicesOf({ type: 'scale', min: 0, max: 0.3, step: 0.1 })![3]!.value, 0.3);
  t.same(keysOf({ type: 'scale', min: -1, max: 1, step: 1 }), ['1=-1', '2=0', '3=1']);
  t.equal(keysOf({ type: 'scale', min: 0, max: 10, step: 1 })!.at(-1), '=10', 'the eleventh has no key');
});

t.test('a long scale, and one without steps, is a number that is written', async (t) => {
  t.equal(choicesOf({ type: 'scale', min: 0, max: 100, step: 1 }), null);
  t.equal(choicesOf({ type: 'scale', min: 0, max: 1, step: null }), null);
});

t.test('labels have the digits of their places, the tenth has none', async (t) => {
  const labels = Array.from({ length: 10 }, (_, index) => ({ label: `L${index}`, score: null }));
  const keys = choicesOf({ type: 'categories', labels })!.map(({ key }) => key);
  t.same(keys, ['1', '2', '3', '4', '5', '6', '7', '8', '9', null]);
});

t.test('grades and kinds are written in words', async (t) => {
  t.same([true, false, 3.5, 'rude'].map(valueText), ['Yes', 'No', '3.5', 'rude']);
  t.equal(kindText({ type: 'scale', min: 1, max: 5, step: 0.5 }), '1 to 5, in steps of 0.5');
  t.equal(kindText({ type: 'scale', min: 0, max: 1, step: null }), '0 to 1');
  t.equal(
    kindText({
      type: 'categories',
      labels: [
        { label: 'a', score: 1 },
        { label: 'b', score: null },
      ],
    }),
    'a, b',
  );
});
