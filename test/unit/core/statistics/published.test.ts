/** Worked examples of the literature. */
import t from 'tap';
import { cohensKappa, fleissKappa } from '#core/statistics/agreement.ts';
import { krippendorffAlpha } from '#core/statistics/krippendorff.ts';
import { mcnemarTest } from '#core/statistics/mcnemar.ts';
import { newcombeInterval } from '#core/statistics/newcombe.ts';
import { tangoInterval } from '#core/statistics/tango.ts';

/** Rounds as the publication does. */
const rounded = (value: number, digits: number) => Number(value.toFixed(digits));

t.test("Newcombe's interval has the bounds of the examples in his paper", async (t) => {
  // Statistics in Medicine 17, 2635–2650, 1998, method 10, as the R package propint and the tests of contingencytables quote
  // them: both, one side alone, the other alone, neither; the last is the trial of Cavo et al., 2012.
  const CASES: [number[], low: number, high: number][] = [
    [[36, 12, 2, 0], 0.0569, 0.3404],
    [[18, 12, 2, 18], 0.0562, 0.329],
    [[53, 0, 0, 1], -0.0729, 0.0729],
    [[0, 30, 0, 0], 0.8395, 1],
    [[59, 6, 16, 80], -0.1186, -0.0046],
  ];
  for (const [[both, candidateOnly, baselineOnly, neither], low, high] of CASES) {
    const table = {
      both: both!,
      candidateOnly: candidateOnly!,
      baselineOnly: baselineOnly!,
      neither: neither!,
    };
    const interval = newcombeInterval(table, 0.05)!;
    t.same([rounded(interval.low, 4), rounded(interval.high, 4)], [low, high], JSON.stringify(table));
  }
  t.equal(newcombeInterval({ both: 0, candidateOnly: 0, baselineOnly: 0, neither: 0 }, 0.05), null);
});

t.test("Tango's interval and McNemar's p values are those of the R package contingencytables", async (t) => {
  // Cavo et al., 2012, of 161 patients: 6 and 16 discordant.
  const { low, high } = tangoInterval(6, 16, 161, 0.05);
  t.same([rounded(low, 4), rounded(high, 4)], [-0.124, -0.0054]);
  const { exact, midP } = mcnemarTest(6, 16);
  t.same([rounded(exact, 6), rounded(midP, 6)], [0.052479, 0.03469]);
});

/** Two-sided p values by counting outcomes in whole numbers. */
function enumerated(one: number, other: number): { exact: number; midP: number } {
  const total = one + other;
  const choose = [1n];
  for (let count = 1; count <= total; count += 1) {
    choose.push((choose[count - 1]! * BigInt(total - count + 1)) / BigInt(count));
  }
  const observed = Math.min(one, other);
  let [more, equal] = [0n, 0n];
  for (const [count, ways] of choose.entries()) {
    const extreme = Math.min(count, total - count);
    if (extreme < observed) more += ways;
    if (extreme === observed) equal += ways;
  }
  // Shifted by more bits than the smallest quotient has.
  const share = (ways: bigint) => Number((ways << 1_000n) / 2n ** BigInt(total)) / 2 ** 500 / 2 ** 500;
  return { exact: share(more + equal), midP: share(2n * more + equal) / 2 };
}

t.test('McNemar p values are those of counting every outcome in whole numbers', async (t) => {
  let largest = 0;
  for (let one = 0; one <= 40; one += 1) {
    for (const other of [0, 1, one, 3 * one + 1, 400]) {
      if (one + other === 0) continue;
      const [ours, wanted] = [mcnemarTest(one, other), enumerated(one, other)];
      largest = Math.max(
        largest,
        Math.abs(ours.exact / wanted.exact - 1),
        Math.abs(ours.midP / wanted.midP - 1),
      );
    }
  }
  t.ok(largest < 1e-11, `${largest}`);
  t.same(mcnemarTest(0, 0), { exact: 1, midP: 1 });
});

t.test("Krippendorff's alpha is the same in whatever unit ratings are", async (t) => {
  const items = [
    [1, 1],
    [2, 3],
    [3, 3],
    [5, 4],
  ];
  const { value } = krippendorffAlpha(items, 'interval');
  for (const unit of [2 ** -1_000, 2 ** 1_000, -(2 ** 1_021)]) {
    const scaled = items.map((ratings) => ratings.map((rating) => rating * unit));
    t.equal(krippendorffAlpha(scaled, 'interval').value, value, String(unit));
  }
});

t.test("Krippendorff's alpha has the values of his example with missing ratings", async (t) => {
  // "Computing Krippendorff's Alpha-Reliability", 2011, section C: four observers and twelve units.
  const NONE = null;
  const observers = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
    [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
  ];
  const items = observers[0]!.map((_, unit) => observers.map((ratings) => ratings[unit]!));
  const values = (['nominal', 'ordinal', 'interval'] as const).map((level) =>
    rounded(krippendorffAlpha(items, level).value!, 3),
  );
  t.same(values, [0.743, 0.815, 0.849]);
});

t.test('coefficients of agreement are null with a reason where they are undefined', async (t) => {
  t.match(
    cohensKappa([
      [0, 0],
      [0, 0],
    ]),
    { value: null, reason: /no item/ },
  );
  t.match(
    cohensKappa([
      [7, 0],
      [0, 0],
    ]),
    { value: null, reason: /are the same/ },
  );
  t.match(fleissKappa([]), { value: null, reason: /no item/ });
  const uneven = [
    [1, 0],
    [1, 2],
  ];
  t.match(fleissKappa(uneven), { value: null, reason: /different numbers/ }, 'also when the first has one');
  t.match(
    fleissKappa([
      [1, 0],
      [0, 1],
    ]),
    { value: null, reason: /no item/ },
  );
  t.match(
    fleissKappa([
      [2, 0],
      [3, 0],
    ]),
    { value: null, reason: /different numbers/ },
  );
  t.match(
    fleissKappa([
      [2, 0],
      [2, 0],
    ]),
    { value: null, reason: /are the same/ },
  );
  t.match(
    krippendorffAlpha(
      [
        [1, null],
        [null, 2],
      ],
      'nominal',
    ),
    { value: null, reason: /no item/ },
  );
  t.match(
    krippendorffAlpha(
      [
        [1, 1],
        [1, null],
      ],
      'ordinal',
    ),
    { value: null, reason: /are the same/ },
  );
});

t.test('all coefficients are 1 when everybody agrees', async (t) => {
  t.equal(
    cohensKappa(
      [
        [5, 0, 0],
        [0, 4, 0],
        [0, 0, 3],
      ],
      'quadratic',
    ).value,
    1,
  );
  t.equal(
    fleissKappa([
      [3, 0],
      [0, 3],
    ]).value,
    1,
  );
  for (const level of ['nominal', 'ordinal', 'interval'] as const) {
    t.equal(
      krippendorffAlpha(
        [
          [1, 1, null],
          [2, 2, 2],
          [5, null, 5],
        ],
        level,
      ).value,
      1,
    );
  }
});
