/** Agreement with scipy and statsmodels; `npm run bench statistics` asks about more tables. */
import t from 'tap';
import { normalCdf, normalQuantile } from '#core/statistics/normal.ts';
import { detectableDifference } from '#core/statistics/power.ts';
import {
  askOracles,
  bcaError,
  bootstrapErrors,
  CLOSED_FORM_NAMES,
  closedFormErrors,
  permutationErrors,
  skippedWithoutOracles,
  tangoError,
} from '../../../bench/statistics/oracles.ts';

const TABLES = 50;
const SEED = 20_261_126;
const skip = skippedWithoutOracles();

/** Asked once: Python takes seconds to load scipy and statsmodels. */
const errors = skip === false ? closedFormErrors(TABLES, SEED) : new Map<string, number>();

for (const name of CLOSED_FORM_NAMES) {
  t.test(`${name} agrees with scipy or statsmodels over random tables`, { skip }, async (t) => {
    const error = errors.get(name)!;
    t.ok(error < 1e-9, `largest error ${error}`);
  });
}

t.test(
  'the normal distribution has 13 digits within 8 deviations, and its quantile 14',
  { skip },
  async (t) => {
    const values = Array.from({ length: 1_601 }, (_, index) => -8 + index / 100);
    const shares = Array.from({ length: 999 }, (_, index) => (index + 1) / 1_000);
    const [probabilities, quantiles] = askOracles([
      ['cdf', values],
      ['quantile', shares],
    ]);
    const error = (ours: number[], wanted: number[]) =>
      Math.max(
        ...ours.map(
          (value, index) => Math.abs(value - wanted[index]!) / Math.max(Math.abs(wanted[index]!), 1e-16),
        ),
      );
    const cdf = error(values.map(normalCdf), probabilities!);
    t.ok(cdf < 1e-13, `${cdf}`);
    const quantile = error(shares.map(normalQuantile), quantiles!);
    t.ok(quantile < 1e-14, `${quantile}`);
  },
);

t.test("Tango's interval agrees with a search for the most likely shares", { skip }, async (t) => {
  const error = tangoError(10, SEED);
  t.ok(error < 1e-6, `largest error ${error}`);
});

t.test('the BCa interval is the one that scipy makes of the same resamples', { skip }, async (t) => {
  const error = bcaError(20, SEED);
  t.ok(error < 1e-9, `largest error ${error}`);
});

t.test('the BCa interval differs from one of scipy no more than two of scipy do', { skip }, async (t) => {
  const { fromScipy, amongScipy } = bootstrapErrors(20, SEED, 2_000);
  t.ok(fromScipy < 1.5 * amongScipy, `${fromScipy} standard errors, and ${amongScipy}`);
});

t.test(
  'sign-flip p values are those of scipy when enumerated, and within chance when drawn',
  { skip },
  async (t) => {
    const { exact, drawn } = permutationErrors(20, SEED, 5_000);
    t.ok(exact < 1e-9, `largest error ${exact}`);
    t.ok(drawn < 4, `largest error ${drawn} standard errors`);
  },
);

t.test(
  "the detectable difference is within 2 % of statsmodels' for ten pairs and more",
  { skip },
  async (t) => {
    const counts = [10, 15, 25, 50, 100, 400, 2_000];
    const answers = askOracles(counts.map((count) => ['power', count]));
    for (const [index, count] of counts.entries()) {
      const ratio = detectableDifference(1, count)! / answers[index]![0]!;
      t.ok(Math.abs(ratio - 1) < 0.02, `${count}: ${ratio}`);
    }
  },
);
