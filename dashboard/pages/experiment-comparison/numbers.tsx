/** The numbers of a comparison as a table: what the plots show, to the digit. */
import type { ComparisonJson } from '#core/contracts/comparison.ts';
import { count, NOTHING } from '../../parts/formats/numbers.ts';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { type Row, rowsByMetric, VerdictChip } from './verdicts.tsx';
import { confidenceText, differenceText, keyOf, nameOf, pText, sizeText, valueText } from './words.ts';

function columnsOf({ alpha, candidates }: ComparisonJson): Column<Row>[] {
  const number = (name: string, title: string, cell: Column<Row>['cell']) => ({
    name,
    title,
    isNumber: true,
    cell,
  });
  const columns: Column<Row>[] = [
    { name: 'metric', title: 'Metric', cell: ({ metric }) => <Hostile text={nameOf(metric)} /> },
    { name: 'candidate', title: 'Candidate', cell: ({ candidate }) => <Hostile text={candidate.name} /> },
    number('pairs', 'Pairs', ({ metric }) => count(metric.pairs)),
    number('groups', 'Groups', ({ metric }) => count(metric.groups)),
    number('baseline', 'Baseline', ({ metric }) => valueText(metric, metric.baseline_mean)),
    number('value', 'Candidate mean', ({ metric }) => valueText(metric, metric.candidate_mean)),
    number('difference', 'Difference', ({ metric }) => differenceText(metric, metric.difference)),
    number('interval', `${confidenceText(alpha)} interval`, ({ metric }) =>
      metric.interval === null
        ? NOTHING
        : `${differenceText(metric, metric.interval.low)} to ${differenceText(metric, metric.interval.high)}`,
    ),
    number('p', 'p', ({ metric }) => pText(metric.p_value)),
    number('adjusted', 'Adjusted p', ({ metric }) => pText(metric.adjusted_p_value)),
    number('least', 'Smallest detectable', ({ metric }) =>
      metric.minimum_detectable === null ? NOTHING : sizeText(metric, metric.minimum_detectable),
    ),
    { name: 'verdict', title: 'Verdict', cell: ({ metric }) => <VerdictChip of={metric.verdict} /> },
  ];
  return candidates.length === 1 ? columns.filter(({ name }) => name !== 'candidate') : columns;
}

/** Shows the table when it is asked for. */
export function Numbers({ comparison }: { comparison: ComparisonJson }) {
  return (
    <details class="part">
      <summary>All numbers as a table</summary>
      <Table
        caption="Numbers of the comparison"
        columns={columnsOf(comparison)}
        rows={rowsByMetric(comparison).flat()}
        keyOf={({ metric, candidate }) => `${keyOf(metric)} ${candidate.id}`}
      />
    </details>
  );
}
