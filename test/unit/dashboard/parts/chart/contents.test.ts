import t from 'tap';
import { csvOf, rowsOf } from '../../../../../dashboard/parts/chart/rows.ts';
import { type ChartContent, sumOf } from '../../../../../dashboard/parts/chart/series.ts';
import { sparklinePath } from '../../../../../dashboard/parts/chart/sparkline-path.ts';
import { stack } from '../../../../../dashboard/parts/chart/stack.ts';
import { summaryOf } from '../../../../../dashboard/parts/chart/summary.ts';
import { topWithOther } from '../../../../../dashboard/parts/chart/top.ts';

const BUCKETS = { begins: [0, 1_000], from: 0, to: 2_000 };
const time = (ms: number) => `${ms / 1_000} s`;
const series = (label: string, values: (number | null)[]) =>
  ({ key: label, label, color: 'series-1', values }) as const;

t.test('The sum of values leaves out those that are missing, and is missing without any', async (t) => {
  t.equal(sumOf([1, null, 2]), 3);
  t.equal(sumOf([null]), null);
});

t.test('Series of a stack stand on those before them, where a missing value counts as none', async (t) => {
  t.same(
    stack([
      [1, null],
      [10, 20],
      [null, 5],
    ]),
    [
      [1, 0],
      [11, 20],
      [11, 25],
    ],
  );
});

t.test('Groups beyond the greatest are summed with those that the answer had summed already', async (t) => {
  const groups = ['a', 'b', 'c'].map((group, index) => ({ group, values: [index, null] }));
  t.same(topWithOther(groups, [10, 1], 1), { top: [groups[0]], other: [13, 1] });
  t.same(topWithOther(groups, null, 2).other, [2, null], 'what no group has stays missing');
  t.equal(topWithOther(groups, null, 3).other, null);
});

t.test('A table has a row for each bucket, with the period before last', async (t) => {
  const content = { series: [series('now', [1, 2])], ghosts: [series('then', [3, null])] };
  t.same(rowsOf(content, BUCKETS), {
    titles: ['now', 'then'],
    rows: [
      { begin: 0, values: [1, 3] },
      { begin: 1_000, values: [2, null] },
    ],
  });
});

t.test('CSV quotes labels, disarms formulas in them, and leaves missing values empty', async (t) => {
  const content = { series: [series('=cmd()', [1, -2]), series('a,"b"', [null, 0.5])] };
  t.equal(
    csvOf(rowsOf(content, BUCKETS)),
    `begin,'=cmd(),"a,""b"""\n1970-01-01T00:00:00.000Z,1,\n1970-01-01T00:00:01.000Z,-2,0.5\n`,
  );
});

t.test('The summary of sums names the total, its parts and the greatest bucket', async (t) => {
  const content: ChartContent = {
    title: 'Requests',
    unit: 'count',
    isSum: true,
    series: [series('2xx', [5, 1_000]), series('5xx', [null, 2])],
  };
  t.equal(
    summaryOf(content, BUCKETS, time),
    'Requests from 0 s to 2 s: 1,007 in all (2xx 1,005, 5xx 2); the most, 1,002, from 1 s.',
  );
  t.equal(summaryOf({ ...content, series: [] }, BUCKETS, time), 'Requests from 0 s to 2 s: nothing.');
});

t.test(
  'The summary of values that do not add up names the least and the greatest of each series',
  async (t) => {
    const content: ChartContent = {
      title: 'Latency',
      unit: 'milliseconds',
      isSum: false,
      series: [series('p50', [100, 250]), series('p99', [null, null])],
    };
    t.equal(
      summaryOf(content, BUCKETS, time),
      'Latency from 0 s to 2 s: p50 between 100 ms and 250 ms; p99 without values.',
    );
  },
);

t.test(
  'A sparkline spans its box from nothing to the greatest value, with gaps for missing ones',
  async (t) => {
    t.equal(sparklinePath([0, 10], 103, 23), 'M1.5 21.5L101.5 1.5');
    t.equal(sparklinePath([5, null, 5, 5], 103, 23).match(/M/g)?.length, 2, 'a gap begins anew');
    t.equal(sparklinePath([1], 103, 23), '', 'one value has no shape');
    t.match(sparklinePath([0, 0], 103, 23), /21\.5L.* 21\.5$/, 'nothing lies at the bottom');
  },
);
