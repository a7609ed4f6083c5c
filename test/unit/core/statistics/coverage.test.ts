/** Coverage and false alarms in simulated experiments; `npm run bench statistics` simulates 10,000 of each. */
import t from 'tap';
import { COVERAGE_CASES, coverageOf } from '../../../bench/statistics/coverage.ts';
import { EQUAL_CASES, falseVerdicts } from '../../../bench/statistics/false-alarms.ts';

const EXPERIMENTS = 300;
const SEED = 20_261_126;
/** Three standard errors of a share of 0.95 in as many experiments. */
const CHANCE = 3 * Math.sqrt((0.95 * 0.05) / EXPERIMENTS);

for (const one of COVERAGE_CASES) {
  t.test(`95 % of intervals hold the truth: ${one.name}`, async (t) => {
    const { share, without } = coverageOf(one, EXPERIMENTS, SEED);
    t.ok(share >= 0.93 - CHANCE && share <= 0.97 + CHANCE, `${share}`);
    t.equal(without, 0);
  });
}

for (const one of EQUAL_CASES) {
  t.test(`5 % of comparisons of equal sides find a difference at most: ${one.name}`, async (t) => {
    const share = falseVerdicts(one, EXPERIMENTS, SEED);
    t.ok(share <= 0.05 + CHANCE, `${share}`);
  });
}
