/** The result of a gate as Markdown, for a pull request. Pure. */
import type { ComparisonJson, MetricComparisonJson } from '../../contracts/comparison.ts';
import type { RuleOutcome, RuleResultJson } from '../../contracts/gate.ts';
import { differenceText, number, pText } from './numbers.ts';

const MARKS: Readonly<Record<RuleOutcome, string>> = { pass: '✅', fail: '❌', undecided: '❔' };
const WORDS: Readonly<Record<RuleOutcome, string>> = {
  pass: 'passed',
  fail: 'failed',
  undecided: 'is undecided',
};
/** Items that are shown of each metric. */
const MAX_LOSSES = 5;
const PERCENT = 100;

/** Names are texts of users: as code none becomes a link, a mention, a tag or another cell. */
const code = (text: string) =>
  `\`${text.replace(/\s+/g, ' ').replaceAll('`', "'").replaceAll('|', '\\|').trim() || ' '}\``;

/** @param comparison of one candidate, with the metrics of the rules */
export function markdownOf(
  outcome: RuleOutcome,
  rules: readonly RuleResultJson[],
  comparison: ComparisonJson,
): string {
  const { baseline, alpha, candidates } = comparison;
  const { name, metrics, left_out } = candidates[0]!;
  const confidence = number(PERCENT * (1 - alpha));
  return [
    `### ${MARKS[outcome]} The gate ${WORDS[outcome]}: ${code(name)} against ${code(baseline.name)}`,
    '',
    '| | rule | why |',
    '|---|---|---|',
    ...rules.map((rule) => `| ${MARKS[rule.outcome]} | ${code(rule.rule)} | ${rule.sentence} |`),
    '',
    `| metric | items | baseline | candidate | difference (${confidence} % interval) | p |`,
    '|---|---|---|---|---|---|',
    ...metrics.map(metricRow),
    ...left_out.map(({ name: of, reason }) => `\n${code(of)} is not compared: ${reason}.`),
    ...metrics.flatMap(losses),
    '',
  ].join('\n');
}

function metricRow(metric: MetricComparisonJson): string {
  const mean = (value: number | null) => (value === null ? '–' : number(value));
  const p = metric.adjusted_p_value === null ? '–' : pText(metric.adjusted_p_value);
  const { baseline_mean, candidate_mean, name, pairs } = metric;
  return `| ${code(name)} | ${pairs} | ${mean(baseline_mean)} | ${mean(candidate_mean)} | ${differenceText(metric)} | ${p} |`;
}

function losses({ metric, name, regressions }: MetricComparisonJson): string[] {
  if (metric !== 'score' || regressions.length === 0) return [];
  return [
    '',
    `Largest losses of ${code(name)}:`,
    '',
    '| item | baseline | candidate | requests |',
    '|---|---|---|---|',
    ...regressions
      .slice(0, MAX_LOSSES)
      .map(
        (one) =>
          `| ${code(one.external_id ?? one.item_id)} | ${number(one.baseline)} | ${number(one.candidate)} | ${one.baseline_request_id ?? '–'} → ${one.candidate_request_id ?? '–'} |`,
      ),
  ];
}
