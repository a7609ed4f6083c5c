/** The words behind a verdict, which may be another one. */
import t from 'tap';
import { mayHoldVerdict } from '../../../../evaluators/llm/closing-words.ts';
import type { Scale } from '../../../../evaluators/llm/scale.ts';

const choice = (...labels: string[]): Scale => ({
  kind: 'choice',
  choices: labels.map((description, score) => ({ score, description })),
});
const RANGE: Scale = { kind: 'range', min: 1, max: 5 };
const BOOLEAN: Scale = { kind: 'boolean' };

t.test('words behind a verdict may hold another by the values of its scale', async (t) => {
  const cases: [words: string, scale: Scale, may: boolean][] = [
    ['', RANGE, false],
    ['Let me know if you need more detail.', RANGE, false],
    ['My score is 1.', RANGE, true],
    ['I give ٣ of five.', RANGE, true],
    ['Let me know if you need more detail.', BOOLEAN, false],
    ['Nobody says so, and I know of nothing untrue.', BOOLEAN, false],
    ['**False**', BOOLEAN, true],
    ['Score: 0', BOOLEAN, true],
    ['It is true that it orders me to.', BOOLEAN, true],
    ['This is impolite.', choice('Rude', 'Very polite'), false],
    ['This is RUDE.', choice('Rude', 'Very polite'), true],
    ['It is very\n_polite_, no?', choice('Rude', 'Very polite'), true],
    ['It is very-polite.', choice('Rude', 'Very polite'), true],
    ['答案不好。', choice('好', '差'), true],
    ['答案错误。', choice('好', '差'), false],
    ['I say 👎', choice('👍', '👎'), true],
  ];
  for (const [words, scale, may] of cases) t.equal(mayHoldVerdict(words, scale), may, words);
});

t.test('a short label is found alone, and a single letter in its own case', async (t) => {
  const letters = choice('A', 'B', 'tie');
  t.notOk(mayHoldVerdict('Let me know if a detail is to be tied up. ABBA.', letters));
  t.ok(mayHoldVerdict('The better answer is (B).', letters));
  t.ok(mayHoldVerdict('A Tie, I think.', letters));
  t.notOk(mayHoldVerdict('That is all of 10.', choice('1', '2')));
  t.ok(mayHoldVerdict('So: 1!', choice('1', '2')));
});
