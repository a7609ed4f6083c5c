/** The runs of an evaluator, with how far they are. */
import type { ComponentChildren } from 'preact';
import type { RunState } from '#core/evaluations/mod.ts';
import { call } from '../../../client/call.ts';
import type { Evaluator, Run } from '../../../client/evaluators.ts';
import { filterText } from '../../../parts/formats/filters.ts';
import { Moment } from '../../../parts/formats/moment.tsx';
import { count, dollars, NOTHING, percent } from '../../../parts/formats/numbers.ts';
import { fullTime, shortTime } from '../../../parts/formats/times.ts';
import { type Column, Table } from '../../../parts/table/table.tsx';
import { Hostile } from '../../../parts/text/hostile.tsx';
import { attempt } from '../../../parts/toast/toast.tsx';
import { href } from '../../../state/address.ts';
import { may } from '../../../state/me.ts';
import { evaluatorAddress } from '../address.ts';
import { progressOf } from './plan.ts';

type RunsProps = { evaluator: Evaluator; runs: readonly Run[]; onChange: () => void };

const STATES: Readonly<Record<RunState, readonly [string, string]>> = {
  running: ['Running', 'chip chip-good'],
  paused: ['Paused', 'chip chip-warn'],
  cancelled: ['Cancelled', 'chip'],
  completed: ['Completed', 'chip chip-good'],
  budget: ['Spent its cost', 'chip chip-warn'],
};

/** Tells how far a run has looked through the log, which may take long where little passes its filter. */
function Look({ run: { looking_for, reached } }: { run: Run }) {
  if (looking_for === null) return null;
  return (
    <span class="muted">
      {looking_for === 'sample' ? 'Looks for its sample' : 'Looks for requests'}
      {reached !== null && ', back to '}
      {reached !== null && <Moment at={reached} />}
    </span>
  );
}

function Progress({ run }: { run: Run }) {
  const share = progressOf(run);
  const done = run.scheduled - run.pending;
  if (run.state === 'completed' && run.scheduled === 0) return <span class="muted">Nothing to score</span>;
  return (
    <div class="evaluator-progress">
      <progress max={1} value={share} aria-label={`Progress of the run of ${fullTime(run.created_at)}`} />
      <span>
        {count(done)} of {count(run.scheduled)} ({percent(share)})
      </span>
      <Look run={run} />
    </div>
  );
}

/** How many evaluations of a run are in a state, with a link to them. */
function Outcomes({ evaluator, run }: { evaluator: Evaluator; run: Run }) {
  const link = (number: number, state: string, words: string, tone = ''): ComponentChildren =>
    number > 0 && (
      <a class={tone} href={evaluatorAddress(evaluator.id, { tab: 'evaluations', run: run.id, state })}>
        {count(number)} {words}
      </a>
    );
  return (
    <span class="evaluator-links">
      {link(run.completed, 'completed', 'completed')}
      {link(run.failed, 'failed', 'failed', 'bad')}
      {link(run.skipped, 'skipped', 'skipped')}
      {link(run.cancelled, 'cancelled', 'cancelled')}
      {link(run.pending, 'pending', 'waiting')}
      {run.scheduled === 0 && NOTHING}
    </span>
  );
}

function Which({ run }: { run: Run }) {
  const q = filterText(run.filter);
  const part =
    run.sample === null
      ? run.limit !== null && `newest ${count(run.limit)}`
      : `sample of ${count(run.sample.n)}`;
  return (
    <>
      {q === '' ? (
        'All requests'
      ) : (
        <a class="mono evaluator-query" href={href('/requests', { q, range: '90d' })}>
          <Hostile text={q} />
        </a>
      )}
      {part && <div class="muted">{part}</div>}
    </>
  );
}

const VERBS = { pause: 'Paused', resume: 'Resumed', cancel: 'Cancelled' } as const;

function Actions({ evaluator, run, onChange }: { evaluator: Evaluator; run: Run; onChange: () => void }) {
  const act = (verb: keyof typeof VERBS) =>
    attempt(async () => {
      await call('POST', `/v1/evaluator/${evaluator.id}/run/${run.id}/${verb}`);
      onChange();
    }, VERBS[verb]);
  const retry = () =>
    attempt(async () => {
      await call('POST', `/v1/evaluator/${evaluator.id}/retry`, { states: ['error', 'dead'], runId: run.id });
      onChange();
    }, 'The failed evaluations are tried again');
  const isOpen = run.state === 'running' || run.state === 'paused';
  return (
    <span class="evaluator-links">
      {run.state === 'running' && (
        <button type="button" onClick={() => act('pause')}>
          Pause
        </button>
      )}
      {run.state === 'paused' && (
        <button type="button" onClick={() => act('resume')}>
          Resume
        </button>
      )}
      {isOpen && (
        <button type="button" onClick={() => act('cancel')}>
          Cancel
        </button>
      )}
      {run.failed > 0 && (
        <button type="button" onClick={retry}>
          Retry failed
        </button>
      )}
    </span>
  );
}

function columnsOf({ evaluator, onChange }: Omit<RunsProps, 'runs'>): Column<Run>[] {
  const columns: Column<Run>[] = [
    {
      name: 'begun',
      title: 'Begun',
      cell: ({ created_at }) => (
        <time dateTime={created_at} title={fullTime(created_at)}>
          {shortTime(created_at, Date.now())}
        </time>
      ),
    },
    {
      name: 'state',
      title: 'State',
      cell: ({ state }) => <span class={STATES[state][1]}>{STATES[state][0]}</span>,
    },
    { name: 'requests', title: 'Requests', cell: (run) => <Which run={run} /> },
    { name: 'version', title: 'Version', isNumber: true, cell: ({ version }) => version },
    { name: 'progress', title: 'Progress', cell: (run) => <Progress run={run} /> },
    { name: 'outcomes', title: 'Outcomes', cell: (run) => <Outcomes evaluator={evaluator} run={run} /> },
    {
      name: 'cost',
      title: 'Cost',
      isNumber: true,
      cell: ({ cost_usd, max_cost_usd }) =>
        max_cost_usd === null ? dollars(cost_usd) : `${dollars(cost_usd)} of ${dollars(max_cost_usd)}`,
    },
  ];
  if (!may('write')) return columns;
  const actions: Column<Run> = {
    name: 'actions',
    title: 'Change',
    cell: (run) => <Actions evaluator={evaluator} run={run} onChange={onChange} />,
  };
  return [...columns, actions];
}

/** Shows the runs, the newest first. */
export function Runs({ evaluator, runs, onChange }: RunsProps) {
  return (
    <section class="evaluator-section" aria-label="Runs">
      <h2>Runs</h2>
      <Table
        caption="Runs over history, the newest first"
        columns={columnsOf({ evaluator, onChange })}
        rows={runs}
        keyOf={({ id }) => id}
        empty="No run yet."
      />
    </section>
  );
}
