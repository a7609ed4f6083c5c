/** The runs of an experiment: those that failed first, then all of them in their order. */
import type { ExperimentJson, ExperimentRunJson, ExperimentRunsJson } from '#core/contracts/experiment.ts';
import { call } from '../../client/call.ts';
import { datasetAddress } from '../../parts/datasets/load.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { count, NOTHING } from '../../parts/formats/numbers.ts';
import { MoreButton } from '../../parts/table/more-button.tsx';
import { type Column, Table } from '../../parts/table/table.tsx';
import { usePages } from '../../parts/table/use-pages.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { useAddress } from '../../state/address.ts';
import { StateChip } from '../experiments/parts.tsx';
import { RUN_STATES } from '../experiments/words.ts';

type State = ExperimentRunJson['state'];

const PAGE_SIZE = 50;
const NAMES = Object.keys(RUN_STATES) as State[];

const isState = (text: string | undefined): text is State => NAMES.includes(text as State);

function ErrorText({ error_code: code, error_message: message }: ExperimentRunJson) {
  if (code === null && message === null) return <>{NOTHING}</>;
  return (
    <span class="break">
      {code !== null && (
        <code>
          <Hostile text={code} />
        </code>
      )}{' '}
      <Hostile text={message ?? ''} />
    </span>
  );
}

function columnsOf({
  dataset_id,
  dataset_version,
  repetitions,
}: ExperimentJson): readonly Column<ExperimentRunJson>[] {
  const columns: Column<ExperimentRunJson>[] = [
    { name: 'position', title: 'Run', isNumber: true, cell: ({ position }) => count(position) },
    {
      name: 'item',
      title: 'Item',
      cell: ({ item_id }) => (
        <a
          class="mono"
          href={datasetAddress(dataset_id, { version: String(dataset_version), item: item_id })}
        >
          {item_id}
        </a>
      ),
    },
    { name: 'state', title: 'State', cell: ({ state }) => <StateChip of={RUN_STATES[state]} /> },
    { name: 'error', title: 'Error', cell: (run) => <ErrorText {...run} /> },
    {
      name: 'request',
      title: 'Request',
      cell: ({ request_id }) =>
        request_id === null ? NOTHING : <a href={`/requests/${encodeURIComponent(request_id)}`}>Open</a>,
    },
    { name: 'attempts', title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
    { name: 'finished', title: 'Finished', cell: ({ finished_at }) => <Moment at={finished_at} /> },
  ];
  const repetition: Column<ExperimentRunJson> = {
    name: 'repetition',
    title: 'Repetition',
    isNumber: true,
    cell: ({ repetition }) => repetition,
  };
  return repetitions === 1 ? columns : columns.toSpliced(2, 0, repetition);
}

export type RunsProps = { experiment: ExperimentJson; everyMs: number };

function useRuns({ experiment: { id }, everyMs }: RunsProps, state: State | null) {
  return usePages(
    `experiment runs ${id} ${state}`,
    async (after, signal) => {
      const body = {
        limit: PAGE_SIZE,
        ...(state !== null && { state }),
        ...(after !== null && { after: Number(after) }),
      };
      const path = `/v1/experiment/${encodeURIComponent(id)}/runs`;
      const { runs, next } = await call<ExperimentRunsJson>('POST', path, body, signal);
      return { rows: runs, next: next === null ? null : String(next) };
    },
    { everyMs },
  );
}

function RunList({ title, state, ...props }: RunsProps & { title: string; state: State | null }) {
  const { rows, failure, isLoading, reload, more } = useRuns(props, state);
  return (
    <>
      <FailureNotice failure={failure} retry={reload} />
      <Table
        caption={title}
        columns={columnsOf(props.experiment)}
        rows={rows}
        keyOf={({ position }) => String(position)}
        isLoading={isLoading}
        empty={<p>No run is in this state.</p>}
      />
      <MoreButton more={more} label="Show more" />
    </>
  );
}

function StateChoice({ state }: { state: State | null }) {
  const { set } = useAddress();
  return (
    <select
      aria-label="State of the runs"
      value={state ?? ''}
      onChange={({ currentTarget }) => set({ state: currentTarget.value }, { replace: true })}
    >
      <option value="">All states</option>
      {NAMES.map((name) => (
        <option key={name} value={name}>
          {RUN_STATES[name].word}
        </option>
      ))}
    </select>
  );
}

/** Shows the runs that failed, then the runs of the state in the address. */
export function Runs(props: RunsProps) {
  const { query } = useAddress();
  const state = isState(query.state) ? query.state : null;
  const { failed } = props.experiment;
  return (
    <>
      {failed > 0 && state !== 'error' && (
        <section class="part">
          <h2>Failed runs</h2>
          <RunList {...props} title="Failed runs" state="error" />
        </section>
      )}
      <section class="part">
        <div class="filters">
          <h2>Runs</h2>
          <StateChoice state={state} />
        </div>
        <RunList {...props} title="Runs" state={state} />
      </section>
    </>
  );
}
