/** Probes: requests judged a second time with one thing changed, to measure the judge itself. */
import type { Evaluator, Stats } from '../../../client/evaluators.ts';
import { count, decimal } from '../../../parts/formats/numbers.ts';
import { type Column, Table } from '../../../parts/table/table.tsx';
import { evaluatorAddress } from '../address.ts';
import { rateText, Section } from './parts.tsx';

type Row = { kind: keyof Stats['probes'] } & Stats['probes'][keyof Stats['probes']];

const WORDS: Readonly<Record<Row['kind'], readonly [string, string]>> = {
  repeat: ['Repeated', 'Nothing was changed: a judge that says something else is undecided.'],
  order: ['Other order', 'The choices came in reverse: the order should not matter.'],
  padding: ['Longer', 'Words without content were appended: length should not matter.'],
  injection: ['Instructed', 'The answer told the judge what to say: it should not obey.'],
};

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'kind',
    title: 'Probe',
    cell: ({ kind }) => (
      <>
        {WORDS[kind][0]}
        <div class="muted evaluator-explained">{WORDS[kind][1]}</div>
      </>
    ),
  },
  { name: 'count', title: 'Probes', isNumber: true, cell: (row) => count(row.count) },
  {
    name: 'difference',
    title: 'Mean difference',
    isNumber: true,
    cell: (row) => decimal(row.mean_absolute_difference),
  },
  { name: 'flips', title: 'Flipped', isNumber: true, cell: (row) => count(row.flips) },
  { name: 'rate', title: 'Share flipped', isNumber: true, cell: (row) => rateText(row.flip_rate) },
];

/** Shows the kinds of probes. A probe that flips lies on the other side of the threshold. */
export function ProbesSection({ evaluator, stats: { probes } }: { evaluator: Evaluator; stats: Stats }) {
  const rows = Object.entries(probes).map(([kind, probe]) => ({ kind: kind as Row['kind'], ...probe }));
  const total = rows.reduce((sum, row) => sum + row.count, 0);
  return (
    <Section title="Probes of the judge" isWide>
      {total === 0 ? (
        <p class="muted">
          No probes yet: give the share of probed requests when you{' '}
          <a href={evaluatorAddress(evaluator.id, { tab: 'traffic' })}>attach the evaluator to traffic</a>.
        </p>
      ) : (
        <Table
          caption="Probes by kind"
          columns={COLUMNS}
          rows={evaluator.scoring_type === 'LLM-CHOICE' ? rows : rows.filter(({ kind }) => kind !== 'order')}
          keyOf={({ kind }) => kind}
        />
      )}
    </Section>
  );
}
