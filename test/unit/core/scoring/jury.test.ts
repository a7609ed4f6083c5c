/** The rules that make one score of the scores of a jury. */
import t from 'tap';
import { type JuryVerdict, settleJury } from '#core/scoring/jury.ts';

const scores = (...given: number[]): JuryVerdict[] =>
  given.map((score, index) => ({ score, label: null, reasoning: `member ${index}` }));
const labels = (...given: [string, number][]): JuryVerdict[] =>
  given.map(([label, score], index) => ({ score, label, reasoning: `member ${index}` }));

t.test('the majority is the score that more than half gave, with the reasoning of the first', async (t) => {
  t.strictSame(settleJury('majority', scores(0, 1, 1)), { score: 1, label: null, reasoning: 'member 1' });
  t.strictSame(settleJury('majority', labels(['bad', 0], ['good', 1], ['good', 1])), {
    score: 1,
    label: 'good',
    reasoning: 'member 1',
  });
});

t.test('the most frequent score is no majority unless more than half gave it', async (t) => {
  t.equal(settleJury('majority', scores(0, 1)), null);
  t.equal(settleJury('majority', labels(['a', 0], ['a', 0], ['b', 1], ['c', 2])), null);
  t.equal(settleJury('majority', labels(['a', 1], ['b', 1], ['c', 0])), null, 'labels count, not scores');
});

t.test('the median of numbers lies between the two in the middle', async (t) => {
  t.strictSame(settleJury('median', scores(9, 2, 3)), { score: 3, label: null, reasoning: 'member 2' });
  t.equal(settleJury('median', scores(1, 2, 4, 9))?.score, 3);
});

t.test(
  'the median of choices is a choice: of an even number, the lower of the two in the middle',
  async (t) => {
    const verdict = settleJury('median', labels(['good', 2], ['bad', 0], ['fine', 1], ['good', 2]));
    t.strictSame(verdict, { score: 1, label: 'fine', reasoning: 'member 2' });
  },
);

t.test('the mean stays within the scores, however large or small they are', async (t) => {
  t.equal(settleJury('mean', scores(1, 2, 4.5))?.score, 2.5);
  t.equal(settleJury('mean', scores(0.1, 0.1, 0.1))?.score, 0.1);
  t.equal(settleJury('mean', scores(1.7e308, 1.7e308, 1.7e308))?.score, 1.7e308);
  t.equal(settleJury('median', scores(1.7e308, 1.7e308))?.score, 1.7e308);
});
