/** Random numbers that a seed repeats. */
import t from 'tap';
import { randomOf, seededRandom } from '#core/statistics/random.ts';

t.test('the generator gives the numbers of the published xoshiro128** 1.1', async (t) => {
  // The reference in C of prng.di.unimi.it, from the state 1, 2, 3, 4.
  const random = randomOf([1, 2, 3, 4]);
  t.same(
    Array.from({ length: 5 }, () => random.bits()),
    [11_520, 0, 5_927_040, 70_819_200, 2_031_721_883],
  );
});

t.test('a seed fills the state by SplitMix64', async (t) => {
  // The reference in C, from the seed 1234567: 6457827717110365317 and 3203168211198807973, lower halves first.
  const halves = [6457827717110365317n, 3203168211198807973n].flatMap((word) => [
    Number(word & 0xffffffffn),
    Number(word >> 32n),
  ]);
  const [seeded, filled] = [seededRandom(1_234_567), randomOf(halves)];
  for (let draw = 0; draw < 100; draw += 1) t.equal(seeded.bits(), filled.bits());
});

t.test('numbers below a bound are upper halves of products, whichever path computes them', async (t) => {
  for (const bound of [1, 2, 3, 10_000, 65_535, 65_536, 65_537, 2_097_152]) {
    const [drawn, words] = [new Uint32Array(20_000), new Uint32Array(20_000)];
    seededRandom(bound).fillBelow(drawn, bound);
    seededRandom(bound).fillBits(words);
    // A word is rejected once in 65,536 at most with bounds up to 65,536, so nearly all numbers stay in step.
    const wrong = words.filter((word, index) => Math.floor((word * bound) / 2 ** 32) !== drawn[index]);
    t.ok(wrong.length <= (bound > 65_536 ? 12 : 2), `${bound}: ${wrong.length}`);
    t.ok(drawn.every((value) => value < bound));
  }
});

t.test('words that would make some numbers more likely are rejected', async (t) => {
  // 2³² is 1 more than a multiple of 3: the word 0 must go, and the next one counts. From this state the first word is 0.
  const state = [123_456_789, 0, 9, 123_456_789];
  const words = randomOf(state);
  t.equal(words.bits(), 0);
  const next = words.bits();
  t.equal(next, 2_441_541_282);
  t.equal(randomOf(state).below(3), 1);
});

t.test('each number below a bound is drawn equally often', async (t) => {
  const counts = new Array<number>(7).fill(0);
  const random = seededRandom(5);
  for (let draw = 0; draw < 70_000; draw += 1) counts[random.below(7)]! += 1;
  const statistic = counts.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0);
  // The 99.9 % point of chi-squared with 6 degrees of freedom.
  t.ok(statistic < 22.46, `${statistic}`);
});

t.test('a bound that cannot be drawn below is refused', async (t) => {
  const random = seededRandom(1);
  for (const bound of [0, -1, 2_097_153, Number.NaN]) t.throws(() => random.below(bound), RangeError);
});
