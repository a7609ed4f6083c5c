/** The overview's charts. */
import type { MetricsAnswer } from '#core/contracts/metrics.ts';
import type { Span } from '../../parts/chart/buckets.ts';
import { Chart } from '../../parts/chart/chart.tsx';
import type { ChartContent, ChartKind } from '../../parts/chart/series.ts';
import { addCondition } from '../../parts/query-bar/edit.ts';
import {
  bucketsOf,
  errorGroups,
  ghostsOf,
  groupSeries,
  linesContent,
  statusClassCondition,
  statusSeries,
} from './contents.ts';
import type { OverviewData } from './data.ts';
import { scorePlace, type TotalName, totalPlace } from './measures.ts';
import type { OverviewScope } from './scope.ts';

type Of = {
  answer: MetricsAnswer;
  /** The period before is of all requests: another answer has it. */
  totals: MetricsAnswer | null;
  scope: OverviewScope;
  isLoading: boolean;
};

/** What is the same for every chart of the page. */
function OverviewChart({
  of: { answer, scope, isLoading },
  content,
  kind,
  conditionOf = () => null,
}: {
  of: Of;
  content: ChartContent;
  kind: ChartKind;
  /** The condition of a series; undefined: its requests cannot be listed. */
  conditionOf?: (key: string) => string | null | undefined;
}) {
  const hrefOf = (bucket: Span | null, key: string | null) => {
    const condition = key === null ? null : conditionOf(key);
    return condition === undefined ? null : scope.requests(bucket, condition);
  };
  return (
    <Chart
      {...content}
      kind={kind}
      buckets={bucketsOf(answer)}
      onZoom={scope.zoom}
      hrefOf={hrefOf}
      isLoading={isLoading}
    />
  );
}

function ghostOfTotal({ totals, scope }: Of, name: TotalName, label: string) {
  if (!scope.isCompared || totals === null) return [];
  return ghostsOf([{ key: name, label, place: totalPlace(totals, name) }], 'muted');
}

function Requests({ of }: { of: Of }) {
  const series = statusSeries(of.answer);
  const ghosts = ghostOfTotal(of, 'requests', 'All');
  const content = { title: 'Requests', unit: 'count', isSum: true, series, ghosts } as const;
  return <OverviewChart of={of} content={content} kind="stacked" conditionOf={statusClassCondition} />;
}

function Errors({ of }: { of: Of }) {
  const all = groupSeries({ series: errorGroups(of.answer), other: null }, 0, (status) => `Status ${status}`);
  const ghosts = ghostOfTotal(of, 'errors', 'All');
  const content = { title: 'Errors', unit: 'count', isSum: true, series: all, ghosts } as const;
  const conditionOf = (key: string) => {
    const value = all.find((one) => one.key === key)?.value;
    return value === undefined ? 'status:>=400' : `status:${value}`;
  };
  return <OverviewChart of={of} content={content} kind="stacked" conditionOf={conditionOf} />;
}

function Cost({ of }: { of: Of }) {
  const series = groupSeries(of.answer, 0, (model) =>
    model === null || model === '' ? 'No model' : String(model),
  );
  const ghosts = ghostOfTotal(of, 'cost', 'All');
  const content = { title: 'Cost by model', unit: 'dollars', isSum: true, series, ghosts } as const;
  const conditionOf = (key: string) => {
    const value = series.find((one) => one.key === key)?.value;
    return value === undefined ? undefined : addCondition('', 'model_used', value);
  };
  return <OverviewChart of={of} content={content} kind="stacked" conditionOf={conditionOf} />;
}

/** Charts of the totals: their series, by the names of their measures. */
const TOTAL_CHARTS: readonly {
  content: Pick<ChartContent, 'title' | 'unit' | 'isSum'>;
  kind: ChartKind;
  lines: readonly (readonly [TotalName, label: string])[];
  /** Of the requests that the values come from. */
  condition: string | null;
}[] = [
  {
    content: { title: 'Tokens', unit: 'count', isSum: true },
    kind: 'stacked',
    lines: [
      ['promptTokens', 'Prompt'],
      ['completionTokens', 'Completion'],
    ],
    condition: 'has:tokens',
  },
  {
    content: { title: 'Latency', unit: 'milliseconds', isSum: false },
    kind: 'line',
    lines: [
      ['p50', 'p50'],
      ['p95', 'p95'],
      ['p99', 'p99'],
    ],
    condition: 'has:latency',
  },
  {
    content: { title: 'Time to first token', unit: 'milliseconds', isSum: false },
    kind: 'line',
    lines: [['ttft', 'p95']],
    condition: 'has:ttft',
  },
  {
    content: { title: 'Answers from the cache', unit: 'count', isSum: true },
    kind: 'bars',
    lines: [['cacheHits', 'Cache hits']],
    condition: null,
  },
];

function Totals({ of }: { of: Of }) {
  return (
    <>
      {TOTAL_CHARTS.map(({ content, kind, lines, condition }) => (
        <OverviewChart
          key={content.title}
          of={of}
          kind={kind}
          content={linesContent(
            content,
            lines.map(([name, label]) => ({ key: name, label, place: totalPlace(of.answer, name) })),
            of.scope.isCompared,
          )}
          conditionOf={() => condition}
        />
      ))}
    </>
  );
}

function Scores({ of, keys }: { of: Of; keys: readonly string[] }) {
  const lines = keys.map((key, position) => ({ key, label: key, place: scorePlace(of.answer, position) }));
  const content = linesContent(
    { title: 'Means of scores', unit: 'number', isSum: false },
    lines,
    of.scope.isCompared,
  );
  const conditionOf = (key: string) => `has:scores.${JSON.stringify(key)}`;
  return <OverviewChart of={of} content={content} kind="line" conditionOf={conditionOf} />;
}

/** Shows each chart as soon as its answer is there; until then its place is kept. */
export function Charts({ data, scope }: { data: OverviewData; scope: OverviewScope }) {
  const { totals, statuses, models, grades, scoreKeys } = data;
  const of = ({ data: answer, isLoading }: OverviewData['totals']): Of | null =>
    answer === null ? null : { answer, totals: totals.data, scope, isLoading };
  const [byStatus, byModel, all, graded] = [of(statuses), of(models), of(totals), of(grades)];
  const place = <div class="chart card chart-waiting" aria-busy="true" />;
  return (
    <div class="overview-charts">
      {byStatus === null ? place : <Requests of={byStatus} />}
      {byModel === null ? place : <Cost of={byModel} />}
      {byStatus === null ? place : <Errors of={byStatus} />}
      {all === null ? place : <Totals of={all} />}
      {graded !== null && scoreKeys.length > 0 && <Scores of={graded} keys={scoreKeys} />}
    </div>
  );
}
