/** The columns of the list of evaluations. Reasoning, labels and messages are a model's or a service's texts. */
import type { EvaluationState } from '#core/evaluations/mod.ts';
import type { Evaluation } from '../../../client/evaluators.ts';
import { decimal, dollars, NOTHING } from '../../../parts/formats/numbers.ts';
import { fullTime, shortTime } from '../../../parts/formats/times.ts';
import { ROW_LINK } from '../../../parts/table/row-keys.ts';
import type { Column } from '../../../parts/table/table.tsx';
import { Hostile } from '../../../parts/text/hostile.tsx';

const TONES: Readonly<Record<EvaluationState, string>> = {
  pending: 'chip',
  running: 'chip',
  paused: 'chip chip-warn',
  completed: 'chip chip-good',
  skipped: 'chip',
  error: 'chip chip-bad',
  dead: 'chip chip-bad',
  cancelled: 'chip',
};

/** Beginning of a text; all of it is in the dialog. */
const SHOWN_LENGTH = 240;

function Beginning({ text }: { text: string }) {
  const shown = text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH).toWellFormed()}…` : text;
  return <Hostile text={shown} />;
}

/** The state of an evaluation; a probe says so. */
export function StateChip({ evaluation: { state, probe } }: { evaluation: Evaluation }) {
  return (
    <>
      <span class={TONES[state]}>{state}</span>
      {probe !== null && <span class="chip">probe: {probe}</span>}
    </>
  );
}

/** Links to the calls of the judge, which are requests like any other. */
export function JudgeCalls({ judge }: { judge: Evaluation['judge'] }) {
  const ids = judge?.request_ids ?? [];
  if (ids.length === 0) return <>{NOTHING}</>;
  return (
    <span class="evaluator-links">
      {ids.map((id, index) => (
        <a key={id} href={`/requests/${encodeURIComponent(id)}`}>
          {ids.length === 1 ? 'call' : `call ${index + 1}`}
        </a>
      ))}
    </span>
  );
}

function Why({ evaluation: { reasoning, error, waiting } }: { evaluation: Evaluation }) {
  return (
    <div class="evaluator-why">
      {error !== null && (
        <p>
          <code>{error.code}</code> {error.message !== null && <Beginning text={error.message} />}
        </p>
      )}
      {waiting !== null && (
        <p class="warn">
          <Hostile text={waiting} />
        </p>
      )}
      {reasoning !== null && <Beginning text={reasoning} />}
    </div>
  );
}

/** Returns the columns. @param addressOf opens an evaluation */
export function evaluationColumns(addressOf: (id: string) => string): Column<Evaluation>[] {
  return [
    {
      name: 'time',
      title: 'Time',
      cell: ({ id, scheduled_at, finished_at }) => {
        const at = finished_at ?? scheduled_at;
        return (
          <a class={ROW_LINK} href={addressOf(id)} title={fullTime(at)}>
            {shortTime(at, Date.now())}
          </a>
        );
      },
    },
    { name: 'state', title: 'State', cell: (evaluation) => <StateChip evaluation={evaluation} /> },
    {
      name: 'score',
      title: 'Score',
      isNumber: true,
      cell: ({ score, label }) => (
        <>
          {decimal(score)}
          {label !== null && (
            <div>
              <Hostile text={label} />
            </div>
          )}
        </>
      ),
    },
    { name: 'why', title: 'Reasoning, or error', cell: (evaluation) => <Why evaluation={evaluation} /> },
    {
      name: 'request',
      title: 'Request',
      cell: ({ request_id }) => (
        <a class="mono" href={`/requests/${encodeURIComponent(request_id)}`}>
          <Hostile text={request_id.slice(-8)} />
        </a>
      ),
    },
    { name: 'judge', title: 'Judge', cell: ({ judge }) => <JudgeCalls judge={judge} /> },
    { name: 'cost', title: 'Cost', isNumber: true, cell: ({ judge }) => dollars(judge?.cost) },
    { name: 'version', title: 'Version', isNumber: true, cell: ({ version }) => version },
  ];
}
