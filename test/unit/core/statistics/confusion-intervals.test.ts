import fc from 'fast-check';
import t from 'tap';
import {
  type Confusion,
  correctedPassRateInterval,
  type Interval,
  kappaInterval,
  kappaOf,
  totalOf,
} from '#core/statistics/mod.ts';
import { agreementJson } from '../../../../api/evaluators/agreement.ts';
import { confusion, FEEDBACK } from '../../../support/confusion.ts';

const isNear = (actual: number, expected: number) => Math.abs(actual - expected) < 1e-9;

t.test("kappa's interval has the bounds that statsmodels gives", async (t) => {
  // statsmodels 0.15.0: cohens_kappa([[tp + 1, fp + 1], [fn + 1, tn + 1]]), kappa_low and kappa_upp; the last two are widened to
  // the estimate, 1 and −1.
  const CASES: [Confusion, low: number, high: number][] = [
    [confusion(20, 5, 10, 15), 0.12690604405307135, 0.6138346966876695],
    [confusion(45, 15, 25, 15), -0.06193655304103485, 0.31752760735413377],
    [confusion(25, 35, 5, 35), 0.09627453224042262, 0.39959323635461874],
    [confusion(90, 3, 4, 3), 0.11310338691920818, 0.7341872534748807],
    [confusion(6, 1, 2, 3), -0.10581401984339328, 0.815491439198232],
    [confusion(300, 40, 25, 60), 0.45054788077495145, 0.6417736577594615],
    [confusion(5, 5, 5, 5), -0.40007597302960923, 0.40007597302960923],
    [confusion(2, 7, 6, 1), -0.8776428984083633, -0.12235710159163671],
    [confusion(5, 0, 0, 5), 0.34768639516154853, 1],
    [confusion(0, 5, 5, 0), -1, -0.34768639516154914],
  ];
  for (const [table, low, high] of CASES) {
    const interval = kappaInterval(table)!;
    t.ok(isNear(interval.low, low) && isNear(interval.high, high), JSON.stringify({ table, interval }));
  }
});

t.test("the corrected pass rate's interval has the bounds of Lang and Reiczigel's formulas", async (t) => {
  // The formulas as the R package asht 1.0.1 has them (prevSeSp), computed with scipy 1.17.1, and kept within 0 and 1.
  const CASES: [passed: number, scored: number, Confusion, low: number, high: number][] = [
    [60, 100, confusion(45, 15, 5, 35), 0.2817542714040533, 0.7023861355021772],
    [27, 40, confusion(9, 3, 1, 7), 0.22680556628485238, 1],
    [5, 200, confusion(18, 1, 2, 19), 0, 0.06281048977870632],
    [500, 1000, confusion(90, 20, 10, 80), 0.33681397647763256, 0.5124664742768934],
  ];
  for (const [passed, scored, table, low, high] of CASES) {
    const interval = correctedPassRateInterval({ passed, scored, confusion: table })!;
    t.ok(isNear(interval.low, low) && isNear(interval.high, high), JSON.stringify({ passed, interval }));
  }
});

const counts = fc.tuple(fc.nat(300), fc.nat(300), fc.nat(300), fc.nat(300));

t.test('an interval lies within its bounds and around its estimate, for any counts', async () => {
  fc.assert(
    fc.property(counts, fc.nat(500), fc.nat(500), ([a, b, c, d], passed, failed) => {
      const json = agreementJson(
        0.5,
        {
          confusion: confusion(a, b, c, d),
          passed,
          scored: passed + failed,
          rated: a + b + c + d,
          ties: 0,
        },
        FEEDBACK,
      );
      const holds = (interval: Interval | null, value: number | null, least: number) =>
        interval === null ||
        (least <= interval.low && interval.low <= value! && value! <= interval.high && interval.high <= 1);
      return (
        holds(json.kappa_interval, json.kappa, -1) &&
        holds(json.corrected_pass_rate_interval, json.corrected_pass_rate, 0) &&
        (json.kappa_interval === null) === (json.kappa_note !== null) &&
        (json.corrected_pass_rate_interval === null) === (json.note !== null)
      );
    }),
  );
});

t.test('swapping good and bad mirrors the intervals', async () => {
  fc.assert(
    fc.property(counts, fc.nat(500), fc.nat(500), ([a, b, c, d], passed, failed) => {
      const scored = passed + failed;
      const kappas = [kappaInterval(confusion(a, b, c, d)), kappaInterval(confusion(d, c, b, a))];
      const one = correctedPassRateInterval({ passed, scored, confusion: confusion(a, b, c, d) });
      const other = correctedPassRateInterval({ passed: failed, scored, confusion: confusion(d, c, b, a) });
      const isSame =
        kappas[0] === null ||
        (isNear(kappas[0]!.low, kappas[1]!.low) && isNear(kappas[0]!.high, kappas[1]!.high));
      const isMirrored =
        one === null || (isNear(one.low, 1 - other!.high) && isNear(one.high, 1 - other!.low));
      return isSame && (one === null) === (other === null) && isMirrored;
    }),
  );
});

/** Numbers in [0, 1) from a seed (Mulberry32), so that every run draws the same samples. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

type World = { good: number; sensitivity: number; specificity: number; scored: number; rated: number };

/** Scores of answers by a judge that errs at known rates, of which people rated the first ones. */
function draw({ good, sensitivity, specificity, scored, rated }: World, random: () => number) {
  const table = confusion(0, 0, 0, 0);
  let passed = 0;
  for (let index = 0; index < scored; index += 1) {
    const isGood = random() < good;
    const passes = isGood ? random() < sensitivity : random() >= specificity;
    if (passes) passed += 1;
    if (index >= rated) continue;
    if (isGood) table[passes ? 'truePositive' : 'falseNegative'] += 1;
    else table[passes ? 'falsePositive' : 'trueNegative'] += 1;
  }
  return { passed, scored, confusion: table };
}

const WORLDS: World[] = [
  { good: 0.7, sensitivity: 0.9, specificity: 0.8, scored: 300, rated: 100 },
  { good: 0.5, sensitivity: 0.85, specificity: 0.85, scored: 400, rated: 200 },
  { good: 0.3, sensitivity: 0.8, specificity: 0.9, scored: 300, rated: 80 },
];

t.test('at least 95 % of the intervals of repeated samples contain the true value', async (t) => {
  const random = seeded(20_261_122);
  for (const world of WORLDS) {
    const { good, sensitivity, specificity } = world;
    const passRate = good * sensitivity + (1 - good) * (1 - specificity);
    const observed = good * sensitivity + (1 - good) * specificity;
    const expected = passRate * good + (1 - passRate) * (1 - good);
    const truth = { kappa: (observed - expected) / (1 - expected), good };
    const held = { kappa: 0, good: 0 };
    const count = 1_000;
    for (let index = 0; index < count; index += 1) {
      const sample = draw(world, random);
      const kappa = kappaInterval(sample.confusion);
      const corrected = correctedPassRateInterval(sample);
      if (kappa !== null && kappa.low <= truth.kappa && truth.kappa <= kappa.high) held.kappa += 1;
      if (corrected !== null && corrected.low <= good && good <= corrected.high) held.good += 1;
    }
    // Two standard errors of a share of 0.95 in 1,000 are 0.014.
    t.ok(held.kappa / count > 0.936, `kappa: ${held.kappa} of ${count}`);
    t.ok(held.good / count > 0.936, `the corrected pass rate: ${held.good} of ${count}`);
  }
});

t.test("kappa's interval contains the true one in 94 % of samples where nearly all is good", async (t) => {
  const random = seeded(20_261_128);
  const count = 1_000;
  for (const rated of [20, 50, 100, 200]) {
    // Judge and people both pass 90 %, with a kappa of 0.2.
    const world = { good: 0.9, sensitivity: 0.92, specificity: 0.28, scored: rated, rated };
    const kappas = Array.from({ length: count }, () => draw(world, random).confusion).filter(
      (table) => kappaOf(table) !== null,
    );
    const held = kappas.filter((table) => {
      const { low, high } = kappaInterval(table)!;
      return low <= 0.2 && 0.2 <= high;
    });
    t.ok(held.length / kappas.length > 0.936, `${rated} ratings: ${held.length} of ${kappas.length}`);
  }
});

t.test('a missing interval comes with its reason', async (t) => {
  const about = (table: Confusion, passed: number, scored: number) =>
    agreementJson(0.5, { confusion: table, passed, scored, rated: totalOf(table), ties: 0 }, FEEDBACK);
  t.match(about(confusion(0, 0, 0, 0), 3, 5), {
    kappa: null,
    kappa_note: /no scored request has been rated/,
  });
  t.match(about(confusion(9, 0, 0, 0), 9, 9), {
    kappa: null,
    kappa_note: /say the same of every rated request/,
  });
  t.match(about(confusion(5, 0, 0, 5), 5, 10), {
    kappa: 1,
    kappa_interval: { low: Number, high: 1 },
    kappa_note: null,
    corrected_pass_rate: 0.5,
    note: null,
  });
  t.equal(kappaOf(confusion(0, 5, 5, 0)), -1);
  // 1 of 1 good ones and 1 of 20 bad ones are told: with pseudo-counts 2/3 and 2/22, less than chance.
  t.match(about(confusion(1, 19, 0, 1), 20, 21), {
    corrected_pass_rate: Number,
    corrected_pass_rate_interval: null,
    note: /too few/,
  });
});
