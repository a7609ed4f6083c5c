import t from 'tap';
import type { MetricsAnswer } from '#core/contracts/metrics.ts';
import { changeOf } from '../../../../../dashboard/pages/overview/change.ts';
import {
  bucketsOf,
  errorGroups,
  groupSeries,
  linesContent,
  statusClassCondition,
  statusSeries,
} from '../../../../../dashboard/pages/overview/contents.ts';
import {
  gradesQuery,
  modelQuery,
  scorePlace,
  totalBefore,
  totalOf,
  totalPlace,
  totalsQuery,
  unpricedOf,
} from '../../../../../dashboard/pages/overview/measures.ts';

const SCOPE = { q: '', range: { from: 0, to: 2_000 }, timeZone: 'Europe/Berlin' };

function answerWith(changes: Partial<MetricsAnswer>): MetricsAnswer {
  return {
    series: [],
    other: null,
    total: { points: [], total: [] },
    bucket: 'hour',
    timeZone: 'UTC',
    range: { from: new Date(2_000).toISOString(), to: new Date(4_000).toISOString() },
    previousRange: null,
    exact: true,
    error: null,
    source: 'rollup',
    asOf: new Date(4_000).toISOString(),
    ...changes,
  };
}

const group = (status: string | null, values: number[]) => ({
  group: { status },
  points: values.map((value, index) => [2_000 + index * 1_000, value]),
  total: [values.reduce((sum, value) => sum + value, 0)],
});

t.test('A query of the overview has at most ten measures, and no filter without a text', async (t) => {
  t.equal(totalsQuery(SCOPE).measures.length, 10);
  t.notOk('q' in totalsQuery(SCOPE));
  t.equal(totalsQuery({ ...SCOPE, q: 'status:500' }).q, 'status:500');
  const keys = Array.from({ length: 20 }, (_, index) => `score ${index}`);
  t.equal(gradesQuery(SCOPE, keys).measures.length, 10, 'scores beyond the limit are left out');
});

t.test('Requests with tokens and no cost are counted, also when others cost something', async (t) => {
  const { measures } = modelQuery(SCOPE);
  const totals = { 'cost sum': 0.5, 'requests count': 10, 'total_tokens count': 8, 'cost count': 5 };
  const total = measures.map(
    ({ metric, aggregate }) => new Map(Object.entries(totals)).get(`${metric} ${aggregate}`)!,
  );
  t.equal(unpricedOf(answerWith({ total: { points: [], total } })), 3);
  t.equal(unpricedOf(answerWith({})), 0, 'without any request');
});

t.test('A measure is found at its place in the answer, now and before', async (t) => {
  const total = Array.from({ length: 10 }, (_, index) => index);
  const previous = { points: [], total: total.map((value) => value * 100) };
  const answer = answerWith({ total: { points: [], total, previous } });
  const { measures } = totalsQuery(SCOPE);
  const at = measures.findIndex(({ aggregate }) => aggregate === 'p99');
  t.equal(totalOf(totalPlace(answer, 'p99')), at);
  t.equal(totalBefore(totalPlace(answer, 'p99')), at * 100);
  const grades = gradesQuery(SCOPE, ['a', 'b']).measures;
  t.equal(grades[scorePlace(answer, 1).index]?.metric, 'score:b');
});

t.test(
  'Requests are summed by the class of their status, and classes without any are left out',
  async (t) => {
    const answer = answerWith({
      series: [group('200', [5, 1]), group('429', [1, 0]), group('400', [0, 2]), group(null, [9, 9])],
    });
    t.same(
      statusSeries(answer).map(({ label, values }) => [label, values]),
      [
        ['2xx success', [5, 1]],
        ['4xx client error', [1, 2]],
      ],
    );
    t.equal(statusClassCondition('4'), 'status:400..500');
    t.same(
      errorGroups(answer).map(({ group: { status } }) => status),
      ['429', '400'],
    );
  },
);

t.test('The greatest groups are shown, and all others as one that cannot be filtered by', async (t) => {
  const series = Array.from({ length: 8 }, (_, index) => group(`model ${index}`, [8 - index]));
  const shown = groupSeries({ series, other: { points: [[2_000, 100]], total: [100] } }, 0, String);
  t.equal(shown.length, 6);
  t.same(shown.at(-1)?.values, [3 + 2 + 1 + 100]);
  t.equal(shown.at(-1)?.value, undefined);
  t.equal(shown[0]?.value, 'model 0');
});

t.test('A chart that is compared has the period before, moved onto its buckets', async (t) => {
  const points = [
    [2_000, 1],
    [3_000, 2],
  ];
  const previous = {
    points: [
      [0, 10],
      [1_000, 20],
    ],
    total: [30],
  };
  const answer = answerWith({
    total: { points, total: [3], previous },
    previousRange: { from: new Date(0).toISOString(), to: new Date(2_000).toISOString() },
  });
  t.same(bucketsOf(answer), { begins: [2_000, 3_000], from: 2_000, to: 4_000 });
  const lines = [{ key: 'requests', label: 'All', place: totalPlace(answer, 'requests') }];
  const shape = { title: 'Requests', unit: 'count', isSum: true } as const;
  t.same(linesContent(shape, lines, true).ghosts?.[0]?.values, [10, 20]);
  t.same(linesContent(shape, lines, false).ghosts, []);
});

t.test('A change is a share of the value before, or how many times it is', async (t) => {
  t.same(changeOf(112, 100), { text: '+12%', direction: 'more' });
  t.same(changeOf(50, 100), { text: '−50%', direction: 'less' });
  t.same(changeOf(100.01, 100), { text: 'as before', direction: 'same' });
  t.same(changeOf(3_000, 100), { text: '30 times as much', direction: 'more' });
  t.equal(changeOf(1, 0), null, 'nothing to compare with');
  t.equal(changeOf(null, 1), null);
});
