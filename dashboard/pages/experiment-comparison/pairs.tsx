/** The preferences of judges of pairs, and the form that asks one. */
import { useState } from 'preact/hooks';
import type { ComparisonJson } from '#core/contracts/comparison.ts';
import type { PairwiseDryRunJson, WinRateJson } from '#core/contracts/pairwise.ts';
import { call } from '../../client/call.ts';
import type { Evaluator } from '../../client/evaluators.ts';
import { useResource } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Field } from '../../parts/form/field.tsx';
import { Form } from '../../parts/form/form.tsx';
import { count, dollars, NOTHING, percent, plural } from '../../parts/formats/numbers.ts';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { writeMarks } from '../../parts/text/split-hostile.ts';
import { tell } from '../../parts/toast/toast.tsx';
import { may } from '../../state/me.ts';
import { pText } from './words.ts';

type Candidate = ComparisonJson['candidates'][number];
type Row = { candidate: Candidate; rate: WinRateJson };

const shareText = (share: { low: number; high: number } | null) =>
  share === null ? NOTHING : `${percent(share.low)} to ${percent(share.high)}`;

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'judge',
    title: 'Judge',
    cell: ({ rate }) => (
      <a href={`/evaluators/${rate.evaluator_id}`}>
        <Hostile text={rate.name} />
      </a>
    ),
  },
  { name: 'candidate', title: 'Candidate', cell: ({ candidate }) => <Hostile text={candidate.name} /> },
  {
    name: 'pairs',
    title: 'Pairs',
    isNumber: true,
    cell: ({ rate: { pairs, incomplete } }) =>
      incomplete === 0 ? count(pairs) : `${count(pairs)}, ${count(incomplete)} open`,
  },
  { name: 'wins', title: 'Wins', isNumber: true, cell: ({ rate }) => count(rate.wins) },
  { name: 'ties', title: 'Ties', isNumber: true, cell: ({ rate }) => count(rate.ties) },
  { name: 'losses', title: 'Losses', isNumber: true, cell: ({ rate }) => count(rate.losses) },
  { name: 'rate', title: 'Win rate', isNumber: true, cell: ({ rate }) => percent(rate.rate) },
  { name: 'interval', title: 'Interval', isNumber: true, cell: ({ rate }) => shareText(rate.interval) },
  { name: 'p', title: 'p', isNumber: true, cell: ({ rate }) => pText(rate.p_value) },
  {
    name: 'first',
    title: 'Prefers the first',
    isNumber: true,
    cell: ({ rate: { position } }) =>
      position.first_rate === null
        ? NOTHING
        : `${percent(position.first_rate.value)} (${shareText(position.first_rate)})`,
  },
];

type AskProps = { baseline: string; candidates: readonly Candidate[]; onAsked: () => void };

/** Says what a run would take. */
function priceText({
  pairs,
  judgments,
  already_judged: made,
  estimated_cost_usd: price,
}: PairwiseDryRunJson) {
  const rest = `${plural(judgments - made, 'judgment')} of ${plural(pairs, 'pair')}`;
  return `${rest}, ${price === null ? 'at a price that is not known' : `about ${dollars(price)}`}.`;
}

type ChoiceProps = {
  label: string;
  value: string;
  of: readonly { id: string; name: string }[];
  onChange: (id: string) => void;
};

function Choice({ label, value, of, onChange }: ChoiceProps) {
  return (
    <Field
      label={label}
      control={(attributes) => (
        <select {...attributes} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {of.map(({ id, name }) => (
            <option key={id} value={id}>
              {writeMarks(name)}
            </option>
          ))}
        </select>
      )}
    />
  );
}

/** The form: what it costs comes before the start. */
function Ask({ baseline, candidates, onAsked }: AskProps) {
  const { data, failure, reload } = useResource('judges of pairs', (signal) =>
    call<Evaluator[]>('POST', '/v1/evaluator/query', { scoring_type: 'LLM-PAIRWISE' }, signal),
  );
  const [chosen, setChosen] = useState({ judge: '', candidate: '' });
  const [estimate, setEstimate] = useState<PairwiseDryRunJson | null>(null);
  const judges = data ?? [];
  const judge = judges.some(({ id }) => id === chosen.judge) ? chosen.judge : (judges[0]?.id ?? '');
  const isKnown = candidates.some(({ id }) => id === chosen.candidate);
  const candidate = isKnown ? chosen.candidate : candidates[0]!.id;
  const choose = (changes: Partial<typeof chosen>) => {
    setEstimate(null);
    setChosen((before) => ({ ...before, ...changes }));
  };
  const send = async () => {
    const path = `/v1/evaluator/${judge}/pairwise`;
    if (estimate === null) {
      setEstimate(await call<PairwiseDryRunJson>('POST', path, { baseline, candidate, dryRun: true }));
      return;
    }
    await call('POST', path, { baseline, candidate });
    tell('The judge is asked: compare again in a while');
    setEstimate(null);
    onAsked();
  };
  if (data !== null && judges.length === 0) {
    return (
      <p>
        There is no judge of pairs yet. <a href="/evaluators/new?kind=llm">Make one</a>, which answers with
        the better of two answers.
      </p>
    );
  }
  return (
    <>
      <FailureNotice failure={failure} retry={reload} />
      {data !== null && (
        <Form verb={estimate === null ? 'Count and price' : 'Ask the judge'} onSubmit={send}>
          <div class="evaluator-row">
            <Choice
              label="Judge of pairs"
              value={judge}
              of={judges}
              onChange={(id) => choose({ judge: id })}
            />
            {candidates.length > 1 && (
              <Choice
                label="Beside the baseline"
                value={candidate}
                of={candidates}
                onChange={(id) => choose({ candidate: id })}
              />
            )}
          </div>
          {estimate !== null && <p role="status">{priceText(estimate)}</p>}
        </Form>
      )}
    </>
  );
}

/** Shows the win rates. */
export function Pairs({ comparison, onAsked }: { comparison: ComparisonJson; onAsked: () => void }) {
  const { baseline, candidates } = comparison;
  const rows = candidates.flatMap((candidate) => candidate.win_rates.map((rate) => ({ candidate, rate })));
  return (
    <details class="part" open={rows.length > 0}>
      <summary>Judged in pairs</summary>
      {rows.length > 0 && (
        <Table
          caption="How often judges of pairs prefer a candidate, each pair in both orders"
          columns={COLUMNS}
          rows={rows}
          keyOf={({ candidate, rate }) => `${candidate.id} ${rate.evaluator_id}`}
        />
      )}
      {may('write') && <Ask baseline={baseline.id} candidates={candidates} onAsked={onAsked} />}
    </details>
  );
}
