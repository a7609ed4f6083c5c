/** How far people agree: the coefficients of published tables, from grades as they are stored. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { ask, criterion, grade, requests } from './world.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});

type Coefficient = { value: number | null; reason: string | null };
type Agreement = {
  requests: number;
  multiply_graded: number;
  raters: number;
  grades: number;
  cohens_kappa: Coefficient;
  fleiss_kappa: Coefficient;
  krippendorffs_alpha: Coefficient;
};

const agreementOf = (id: string, body: object = {}) =>
  ask<Agreement>(api, `/v1/criterion/${id}/agreement`, body);
const rounded = ({ value }: Coefficient, digits: number) => Number(value!.toFixed(digits));

/** Stores ratings: a row a request, with the value of each person; null where a person gave none. */
async function rate(id: string, items: readonly (readonly (number | string | boolean | null)[])[]) {
  const ids = await requests(api, items.length);
  const rows = items.flatMap((values, item) =>
    values.flatMap((value, person) =>
      value === null ? [] : [{ request: ids[item]!, value, author: `Rater ${person}` }],
    ),
  );
  for (const { request, value, author } of rows) await grade(api, request, id, value, { author });
  return ids;
}

const labelled = (count: number) => ({
  type: 'categories',
  labels: Array.from({ length: count }, (_, index) => ({ label: String(index + 1) })),
});

// Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011, section C: four observers and twelve units.
const OBSERVERS = [
  [1, 2, 3, 3, 2, 1, 4, 1, 2, null, null, null],
  [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, null, 3],
  [null, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, null],
  [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, null],
];
const UNITS = OBSERVERS[0]!.map((_, unit) => OBSERVERS.map((ratings) => ratings[unit]!));

t.test("Krippendorff's alpha is that of his example with missing ratings", async (t) => {
  const nominal = await criterion(api, labelled(5));
  await rate(
    nominal,
    UNITS.map((values) => values.map((value) => (value === null ? null : String(value)))),
  );
  const ofLabels = await agreementOf(nominal);
  t.match(ofLabels, { requests: 12, multiply_graded: 11, raters: 4, grades: 41 });
  t.equal(rounded(ofLabels.krippendorffs_alpha, 3), 0.743);
  t.match(ofLabels.cohens_kappa, { value: null, reason: 'it is of two people, and 4 graded' });
  t.match(ofLabels.fleiss_kappa, { value: null, reason: 'items have different numbers of ratings' });

  const interval = await criterion(api, { type: 'scale', min: 1, max: 5, step: 1 });
  await rate(interval, UNITS);
  const ofNumbers = await agreementOf(interval);
  t.equal(rounded(ofNumbers.krippendorffs_alpha, 3), 0.849);
  t.match(ofNumbers.fleiss_kappa, { value: null, reason: /how far apart/ });
});

t.test("Krippendorff's alpha is that of his example of two observers and two values", async (t) => {
  // The same paper, section A: ten articles, of which the coincidences are 10 of two zeros, 4 and 4, and 2 of two ones.
  const [meg, owen] = ['0100000000', '1110010010'];
  const id = await criterion(api);
  await rate(
    id,
    [...meg!].map((value, unit) => [value === '1', owen![unit] === '1']),
  );
  const agreement = await agreementOf(id);
  t.equal(rounded(agreement.krippendorffs_alpha, 3), 0.095);
});

t.test("Fleiss' kappa is that of the worked example of ten subjects and fourteen raters", async (t) => {
  // The example of the article "Fleiss' kappa" of Wikipedia, whose kappa is 0.210; R's irr and statsmodels agree.
  const COUNTS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
  ];
  const id = await criterion(api, labelled(5));
  await rate(
    id,
    COUNTS.map((counts) => counts.flatMap((count, category) => Array(count).fill(String(category + 1)))),
  );
  const agreement = await agreementOf(id);
  t.match(agreement, { requests: 10, multiply_graded: 10, raters: 14, grades: 140 });
  t.equal(rounded(agreement.fleiss_kappa, 3), 0.21);
});

t.test("Cohen's kappa is of the requests that both people graded", async (t) => {
  // 20 yes of both, 5 and 10 of one alone, 15 no of both: 0.4. A request that one person graded counts for nothing.
  const TABLE: [number, boolean | null, boolean | null][] = [
    [20, true, true],
    [5, true, false],
    [10, false, true],
    [15, false, false],
    [3, true, null],
  ];
  const id = await criterion(api);
  await rate(
    id,
    TABLE.flatMap(([count, one, other]) => Array.from({ length: count }, () => [one, other])),
  );
  const agreement = await agreementOf(id);
  t.match(agreement, { requests: 53, multiply_graded: 50, raters: 2, grades: 103 });
  t.equal(rounded(agreement.cohens_kappa, 10), 0.4);
});

t.test(
  'on a scale with steps, a kappa of two people is weighted by the square of the distance',
  async (t) => {
    // Of three categories: 1 − (4·1 + 1·1 + 1·1) × 6 / Σ of squares over the products of the margins.
    const RATINGS = [
      [1, 1],
      [2, 2],
      [3, 3],
      [1, 2],
      [3, 2],
      [1, 3],
    ];
    const margins = [1, 1, 1, 2, 3, 3].flatMap((one) =>
      [1, 2, 2, 2, 3, 3].map((other) => (one - other) ** 2),
    );
    const observed = RATINGS.reduce((sum, [one, other]) => sum + (one! - other!) ** 2, 0);
    const expected = margins.reduce((sum, square) => sum + square, 0) / RATINGS.length;
    const id = await criterion(api, { type: 'scale', min: 1, max: 3, step: 1 });
    await rate(id, RATINGS);
    t.equal(rounded((await agreementOf(id)).cohens_kappa, 10), Number((1 - observed / expected).toFixed(10)));
    const free = await criterion(api, { type: 'scale', min: 1, max: 3 });
    await rate(free, RATINGS);
    t.match((await agreementOf(free)).cohens_kappa, { value: null, reason: /without steps/ });
  },
);

t.test('a filter says whose grades count, and no grades have no coefficients', async (t) => {
  const id = await criterion(api);
  t.match(await agreementOf(id), {
    requests: 0,
    raters: 0,
    grades: 0,
    krippendorffs_alpha: { value: null, reason: 'no item has two ratings' },
    fleiss_kappa: { value: null, reason: 'no item has two ratings' },
    cohens_kappa: { value: null, reason: 'it is of two people, and 0 graded' },
  });
  const [first] = await rate(id, [
    [true, false],
    [true, true],
  ]);
  t.match(await agreementOf(id, { filter: { request: { id: { equals: first } } } }), {
    requests: 1,
    grades: 2,
  });
  t.match(await agreementOf(id, { q: 'user:nobody' }), { requests: 0 });
  t.equal((await api.call(`/v1/criterion/${id}/agreement`, { body: { filter: { no: 1 } } })).status, 400);
  t.equal((await api.call(`/v1/criterion/${randomUUID()}/agreement`, { body: {} })).status, 404);
});
