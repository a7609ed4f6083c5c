import fc from 'fast-check';
import t from 'tap';
import {
  accuracyOf,
  type Confusion,
  correctedPassRate,
  kappaOf,
  rateOf,
  totalOf,
  trueNegativeRate,
  truePositiveRate,
} from '#core/statistics/mod.ts';
import { agreementJson } from '../../../../api/evaluators/agreement.ts';
import { bucketsOf } from '../../../../api/evaluators/distribution.ts';
import { passThreshold } from '../../../../api/evaluators/threshold.ts';
import { confusion, FEEDBACK } from '../../../support/confusion.ts';

const near = (actual: number, expected: number, within: number) => Math.abs(actual - expected) <= within;

t.test("Wilson's interval has the values of the literature", async (t) => {
  // R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
  const CASES: [number, number, number, number][] = [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ];
  for (const [successes, total, low, high] of CASES) {
    const rate = rateOf(successes, total)!;
    t.ok(near(rate.low, low, 5e-5), `${successes}/${total}: ${rate.low}`);
    t.ok(near(rate.high, high, 5e-5), `${successes}/${total}: ${rate.high}`);
  }
  t.equal(rateOf(0, 0), null);
});

t.test("Cohen's kappa has the values of the literature", async (t) => {
  // Worked examples of the article "Cohen's kappa" of Wikipedia: 20, 5, 10, 15 of 50; and two tables of 100.
  t.ok(near(kappaOf(confusion(20, 5, 10, 15))!, 0.4, 1e-12));
  t.ok(near(kappaOf(confusion(45, 15, 25, 15))!, 0.1304, 5e-5));
  t.ok(near(kappaOf(confusion(25, 35, 5, 35))!, 0.2593, 5e-5));
  t.equal(kappaOf(confusion(5, 0, 0, 5)), 1);
  t.equal(kappaOf(confusion(0, 5, 5, 0)), -1);
  t.equal(kappaOf(confusion(5, 5, 5, 5)), 0);
  t.equal(kappaOf(confusion(9, 0, 0, 0)), null, 'undefined where both say one thing only');
  t.equal(kappaOf(confusion(0, 0, 0, 0)), null);
  t.equal(kappaOf(confusion(9, 1, 0, 0)), 0, 'a judge that passes everything knows nothing');
});

t.test('the corrected pass rate has its hand-computed values', async (t) => {
  // 60 of 100 pass; the judge passes 9 of 10 good ones and fails 7 of 10 bad ones: (0.6 + 0.7 − 1) / (0.9 + 0.7 − 1).
  t.ok(near(correctedPassRate(0.6, 0.9, 0.7)!, 0.5, 1e-12));
  t.equal(correctedPassRate(0.6, 1, 1), 0.6, 'a perfect judge needs no correction');
  t.equal(correctedPassRate(0.1, 0.9, 0.7), 0);
  t.equal(correctedPassRate(1, 0.9, 0.7), 1);
  t.equal(correctedPassRate(0.6, 0.5, 0.5), null, 'no better than chance');
  t.equal(correctedPassRate(0.6, 0.2, 0.7), null, 'worse than chance');
});

const counts = fc.tuple(fc.nat(500), fc.nat(500), fc.nat(500), fc.nat(500));

t.test('statistics stay within their bounds, for any counts', async () => {
  fc.assert(
    fc.property(counts, ([a, b, c, d]) => {
      const table = confusion(a, b, c, d);
      const accuracy = accuracyOf(table);
      const kappa = kappaOf(table);
      if (totalOf(table) === 0) return accuracy === null && kappa === null;
      const isRate = (rate: ReturnType<typeof rateOf>) =>
        rate === null ||
        (0 <= rate.low && rate.low <= rate.value && rate.value <= rate.high && rate.high <= 1);
      return (
        accuracy! >= 0 &&
        accuracy! <= 1 &&
        (kappa === null || (kappa >= -1 && kappa <= 1 && kappa <= accuracy! + 1e-12)) &&
        isRate(truePositiveRate(table)) &&
        isRate(trueNegativeRate(table))
      );
    }),
  );
});

t.test('kappa is the same with judge and people swapped, or good and bad swapped', async () => {
  fc.assert(
    fc.property(counts, ([a, b, c, d]) => {
      const kappa = kappaOf(confusion(a, b, c, d));
      return kappa === kappaOf(confusion(a, c, b, d)) && kappa === kappaOf(confusion(d, c, b, a));
    }),
  );
});

t.test('an interval is narrower with more samples, and mirrors with its share', async () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(300), (total, some) => {
      const successes = Math.min(some, total);
      const rate = rateOf(successes, total)!;
      const more = rateOf(successes * 4, total * 4)!;
      const mirror = rateOf(total - successes, total)!;
      return (
        more.high - more.low < rate.high - rate.low &&
        near(rate.low, 1 - mirror.high, 1e-12) &&
        near(rate.high, 1 - mirror.low, 1e-12)
      );
    }),
  );
});

t.test("the bounds of Wilson's interval are 1.96 standard errors from the share, as defined", async () => {
  const Z = 1.959963984540054;
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 400 }), fc.nat(400), (total, some) => {
      const successes = 1 + (some % (total - 1));
      const { value, low, high } = rateOf(successes, total)!;
      return [low, high].every((bound) =>
        near(Math.abs(value - bound), Z * Math.sqrt((bound * (1 - bound)) / total), 1e-9),
      );
    }),
  );
});

t.test('a judge that errs at known rates is corrected to the true pass rate', async () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  const skilled = fc.double({ min: 0.55, max: 1, noNaN: true });
  fc.assert(
    fc.property(share, skilled, skilled, (truth, truePositive, trueNegative) => {
      const seen = truth * truePositive + (1 - truth) * (1 - trueNegative);
      return near(correctedPassRate(seen, truePositive, trueNegative)!, truth, 1e-9);
    }),
  );
});

t.test('an uncorrected pass rate comes with its reason', async (t) => {
  const note = (table: Confusion, passed: number, scored: number) =>
    agreementJson(0.5, { confusion: table, passed, scored, rated: totalOf(table), ties: 0 }, FEEDBACK).note;
  t.equal(note(confusion(0, 0, 0, 0), 0, 0), 'There are no scores yet');
  t.match(note(confusion(5, 0, 1, 0), 5, 6), 'some that they rated bad');
  t.match(note(confusion(1, 3, 3, 1), 4, 8), 'no better than chance');
  t.equal(note(confusion(4, 1, 1, 4), 5, 10), null);
  t.equal(
    agreementJson(
      0.5,
      { confusion: confusion(1, 3, 3, 1), passed: 4, scored: 8, rated: 8, ties: 0 },
      FEEDBACK,
    ).corrected_pass_rate,
    null,
  );
});

const version = (rest: object) => ({
  organizationId: 'o',
  evaluatorId: 'e',
  version: 1,
  scoringType: 'PYTHON' as const,
  llmTemplate: null,
  codeTemplate: null,
  externalConfig: null,
  threshold: null,
  ...rest,
});
const llmTemplate = { model: 'm', prompt: 'p' };

t.test("the pass threshold is the middle of an evaluator's scale", async (t) => {
  t.equal(passThreshold(version({})), 0.5);
  t.equal(passThreshold(version({ threshold: 0, llmTemplate: { ...llmTemplate, min: 1, max: 5 } })), 0);
  t.equal(passThreshold(version({ scoringType: 'LLM-BOOLEAN', llmTemplate })), 0.5);
  t.equal(passThreshold(version({ llmTemplate: { ...llmTemplate, min: 1, max: 5 } })), 3);
  // Halves of 1.1 and 1.3 add up to more than 1.2.
  t.equal(passThreshold(version({ llmTemplate: { ...llmTemplate, min: 1.1, max: 1.3 } })), 1.2);
  t.equal(passThreshold(version({ llmTemplate: { ...llmTemplate, min: -1.7e308, max: 1.7e308 } })), 0);
  const choices = [4, -2, 10].map((score) => ({ score, description: String(score) }));
  t.equal(passThreshold(version({ llmTemplate: { ...llmTemplate, choices } })), 4);
});

t.test('the edges of buckets are short decimal numbers', async (t) => {
  const edges = (min: number, max: number) =>
    (bucketsOf(version({}), { min, max }) as { from: number }[]).map(({ from }) => from);
  t.strictSame(edges(0, 1), [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]);
  t.strictSame(edges(1, 5), [1, 1.4, 1.8, 2.2, 2.6, 3, 3.4, 3.8, 4.2, 4.6]);
});

t.test('ten buckets cover a range without gap or overlap', async () => {
  const number = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(number, number, (one, two) => {
      fc.pre(one !== two);
      const [min, max] = one < two ? [one, two] : [two, one];
      const buckets = bucketsOf(version({}), { min, max }) as { from: number; to: number }[];
      const inner = buckets.slice(1);
      return (
        buckets[0]!.from === min &&
        buckets.at(-1)!.to === max &&
        inner.every((bucket, index) => bucket.from === buckets[index]!.to && bucket.from <= bucket.to)
      );
    }),
  );
});
