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

t.test('words that name the verdict again, explain it or number their points hold no other', async (t) => {
  const score = (value: number, label: string | null = null) => ({ score: value, label });
  const good = choice('Good', 'Bad');
  const cases: [words: string, scale: Scale, own: ReturnType<typeof score>, may: boolean][] = [
    ['I gave it a 4 because it is polite.', RANGE, score(4), false],
    ['That is 4/5, or 4 out of 5.', RANGE, score(4), false],
    ['My points:\n1. Clear\n2) Polite', RANGE, score(4), false],
    ['It has 300 words, and 2 small slips.', RANGE, score(4), false],
    ['On a scale from 1 to 5 this is good, per section 2.', RANGE, score(4), false],
    ['**1**', RANGE, score(5), true],
    ['I would rate it as a 1.', RANGE, score(5), true],
    ['My score: 1.5', RANGE, score(5), true],
    ['My own score is 2.', RANGE, score(5), true],
    ['I give it 2/5.', RANGE, score(5), true],
    ['The answer has no errors.', BOOLEAN, score(1), false],
    ['It is true to the facts.', BOOLEAN, score(1), false],
    ['That is false.', BOOLEAN, score(1), true],
    ['My verdict is **no**.', BOOLEAN, score(1), true],
    ['Is it right? No.', BOOLEAN, score(1), true],
    ['Overall a good answer.', good, score(0, 'Good'), false],
    ['It is bad.', good, score(0, 'Good'), true],
    ['A brief note: it is short.', choice('A', 'B'), score(1, 'B'), false],
    ['My verdict: B', choice('A) Correct', 'B) Wrong'), score(0, 'A) Correct'), true],
  ];
  for (const [words, scale, own, may] of cases) t.equal(mayHoldVerdict(words, scale, own), may, words);
});

t.test('a short label is found alone, and a single letter in its own case', async (t) => {
  const letters = choice('A', 'B', 'tie');
  t.notOk(mayHoldVerdict('Let me know if a detail is to be tied up. ABBA.', letters));
  t.ok(mayHoldVerdict('The better answer is (B).', letters));
  t.ok(mayHoldVerdict('A Tie, I think.', letters));
  t.notOk(mayHoldVerdict('That is all of 10.', choice('1', '2')));
  t.ok(mayHoldVerdict('So: 1!', choice('1', '2')));
});
