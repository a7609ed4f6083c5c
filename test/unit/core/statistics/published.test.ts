/** Worked examples of the literature. */
import t from 'tap';
import { cohensKappaOf, fleissKappa } from '#core/statistics/agreement.ts';
import { krippendorffAlpha } from '#core/statistics/krippendorff.ts';

/** Rounds as the publication does. */
const rounded = (value: number, digits: number) => Number(value.toFixed(digits));

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
    cohensKappaOf([
      [0, 0],
      [0, 0],
    ]),
    { value: null, reason: /no item/ },
  );
  t.match(
    cohensKappaOf([
      [7, 0],
      [0, 0],
    ]),
    { value: null, reason: /are the same/ },
  );
  t.match(fleissKappa([]), { value: null, reason: /no item/ });
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
    cohensKappaOf(
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
