/** Each metric of a comparison: an interval plot, and the verdict as a sentence. */
import type { ComparisonJson, MetricComparisonJson } from '#core/contracts/comparison.ts';
import { count } from '../../parts/formats/numbers.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { marksOf, reachOf } from './plot.ts';
import { keyOf, missingText, nameOf, pText, VERDICTS, type Verdict, verdictSentence } from './words.ts';

const HEIGHT = 28;
const MIDDLE = HEIGHT / 2;
const CAP = 4;

/** A candidate's row of a metric. */
export type Row = { metric: MetricComparisonJson; candidate: { id: string; name: string } };

/** Returns the rows of all candidates by metric, in the order of the first candidate that has it. */
export function rowsByMetric({ candidates }: ComparisonJson): Row[][] {
  const rows = candidates.flatMap(({ metrics, ...candidate }) =>
    metrics.map((metric): Row => ({ metric, candidate })),
  );
  return [...Map.groupBy(rows, ({ metric }) => keyOf(metric)).values()];
}

/** @example <VerdictChip of="better" /> */
export function VerdictChip({ of }: { of: Verdict }) {
  const { word, sign, look } = VERDICTS[of];
  return (
    <span class={look}>
      <span aria-hidden="true">{sign}</span>
      {word}
    </span>
  );
}

function Plot({
  metric,
  reach,
  margin,
}: {
  metric: MetricComparisonJson;
  reach: number;
  margin: number | null;
}) {
  const { dot, interval, margin: line } = marksOf(metric, reach, margin);
  return (
    <svg class={`interval-plot interval-${metric.verdict}`} width="100%" height={HEIGHT} aria-hidden="true">
      <line class="interval-zero" x1="50%" x2="50%" y1="0" y2={HEIGHT} />
      {line !== null && <line class="interval-margin" x1={`${line}%`} x2={`${line}%`} y1="0" y2={HEIGHT} />}
      {interval !== null && (
        <>
          <line x1={`${interval.from}%`} x2={`${interval.to}%`} y1={MIDDLE} y2={MIDDLE} />
          {[interval.from, interval.to].map((end, index) => (
            <line key={index} x1={`${end}%`} x2={`${end}%`} y1={MIDDLE - CAP} y2={MIDDLE + CAP} />
          ))}
        </>
      )}
      {dot !== null && <circle cx={`${dot}%`} cy={MIDDLE} r="4.5" />}
    </svg>
  );
}

function TableOfFour({ table }: Pick<MetricComparisonJson, 'table'>) {
  if (table === null) return null;
  return (
    <details>
      <summary>The four kinds of pairs</summary>
      <table class="pairs-table">
        <thead>
          <tr>
            <td />
            <th scope="col">Candidate yes</th>
            <th scope="col">Candidate no</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">Baseline yes</th>
            <td class="number">{count(table.both)}</td>
            <td class="number">{count(table.baseline_only)}</td>
          </tr>
          <tr>
            <th scope="row">Baseline no</th>
            <td class="number">{count(table.candidate_only)}</td>
            <td class="number">{count(table.neither)}</td>
          </tr>
        </tbody>
      </table>
    </details>
  );
}

function Wins({ wilcoxon }: Pick<MetricComparisonJson, 'wilcoxon'>) {
  if (wilcoxon === null) return null;
  const { wins, ties, losses, p_value } = wilcoxon;
  return (
    <p class="muted">
      {count(wins)} won, {count(ties)} tied, {count(losses)} lost; Wilcoxon p {pText(p_value)}
    </p>
  );
}

const KINDS = { binary: 'yes or no', ordinal: 'grades', numeric: 'numbers' } as const;

function OneRow({
  row: { metric, candidate },
  reach,
  comparison,
  isAlone,
}: {
  row: Row;
  reach: number;
  comparison: ComparisonJson;
  isAlone: boolean;
}) {
  const missing = missingText(metric);
  return (
    <li class="verdict-row">
      <div class="break">
        <strong>
          <Hostile text={nameOf(metric)} />
        </strong>
        {!isAlone && (
          <div>
            <Hostile text={candidate.name} />
          </div>
        )}
        <div class="muted">
          {KINDS[metric.kind]}, {metric.direction === 'higher' ? 'more' : 'less'} is better
        </div>
      </div>
      <Plot metric={metric} reach={reach} margin={comparison.margin} />
      <div>
        <p>
          <VerdictChip of={metric.verdict} />{' '}
          <Hostile text={verdictSentence(metric, comparison).replace(/^[^:]*: /, '')} />
        </p>
        <Wins wilcoxon={metric.wilcoxon} />
        {missing !== null && <p class="muted">{missing}</p>}
        <TableOfFour table={metric.table} />
      </div>
    </li>
  );
}

/** Shows a row for each metric and candidate. */
export function Verdicts({ comparison }: { comparison: ComparisonJson }) {
  return (
    <section class="part" aria-label="Verdicts">
      <div class="verdict-row verdict-head" aria-hidden="true">
        <span>Metric</span>
        <span class="verdict-sides">
          <span>← worse</span>
          <span>better →</span>
        </span>
        <span>Verdict</span>
      </div>
      <ul class="plain-list">
        {rowsByMetric(comparison).map((rows) => {
          const reach = reachOf(
            rows.map(({ metric }) => metric),
            comparison.margin,
          );
          return rows.map((row) => (
            <OneRow
              key={`${keyOf(row.metric)} ${row.candidate.id}`}
              row={row}
              reach={reach}
              comparison={comparison}
              isAlone={comparison.candidates.length === 1}
            />
          ));
        })}
      </ul>
    </section>
  );
}
