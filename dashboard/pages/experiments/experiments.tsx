/** The page /experiments: all experiments, the newest first, and the choice of some to compare. */
import { useState } from 'preact/hooks';
import type { ExperimentJson, ExperimentListJson } from '#core/contracts/experiment.ts';
import { call } from '../../client/call.ts';
import { datasetOptions, useDatasets } from '../../parts/datasets/load.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { WithScope } from '../../parts/form/scope.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { Older } from '../../parts/table/older.tsx';
import { ROW_LINK, useRowKeys } from '../../parts/table/row-keys.ts';
import { type Column, Table } from '../../parts/table/table.tsx';
import { type Pages, usePages } from '../../parts/table/use-pages.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { href, useAddress } from '../../state/address.ts';
import { useKeys } from '../../state/keys.ts';
import { may } from '../../state/me.ts';
import { comparisonAddress, experimentAddress, MOST_COMPARED } from './address.ts';
import { type Names, POLL_MS, REST_MS, useNames } from './load.ts';
import { DatasetLink, EvaluatorLinks, Spend, Standing, TargetText } from './parts.tsx';
import { isUnderWay, withBaselineFirst } from './words.ts';

const PAGE_SIZE = 20;

/** The experiments, asked for every second while one is under way. */
function useExperiments(datasetId: string): Pages<ExperimentJson> {
  const [everyMs, setEveryMs] = useState(REST_MS);
  const pages = usePages(
    `experiments ${datasetId}`,
    async (after, signal) => {
      const body = {
        limit: PAGE_SIZE,
        ...(datasetId !== '' && { datasetId }),
        ...(after !== null && { after }),
      };
      const { experiments, next } = await call<ExperimentListJson>(
        'POST',
        '/v1/experiment/query',
        body,
        signal,
      );
      return { rows: experiments, next };
    },
    { everyMs },
  );
  const wanted = pages.rows.some(isUnderWay) ? POLL_MS : REST_MS;
  if (pages.data !== null && wanted !== everyMs) setEveryMs(wanted);
  return pages;
}

type Picks = { picked: readonly ExperimentJson[]; pick: (one: ExperimentJson, isPicked: boolean) => void };

function PickBox({ experiment, picked, pick }: Picks & { experiment: ExperimentJson }) {
  const isPicked = picked.some(({ id }) => id === experiment.id);
  const isElsewhere = picked.some(({ dataset_id }) => dataset_id !== experiment.dataset_id);
  const isFull = picked.length >= MOST_COMPARED && !isPicked;
  return (
    <input
      type="checkbox"
      aria-label={`Pick ${experiment.name}`}
      title={isElsewhere ? 'Experiments over one dataset can be compared' : undefined}
      checked={isPicked}
      disabled={isElsewhere || isFull}
      onChange={({ currentTarget }) => pick(experiment, currentTarget.checked)}
    />
  );
}

function columnsOf(names: Names, picks: Picks): Column<ExperimentJson>[] {
  return [
    {
      name: 'pick',
      title: 'Pick',
      cell: (experiment) => <PickBox experiment={experiment} {...picks} />,
    },
    {
      name: 'name',
      title: 'Name',
      cell: ({ id, name }) => (
        <a class={`${ROW_LINK} break`} href={experimentAddress(id)}>
          <Hostile text={name} />
        </a>
      ),
    },
    {
      name: 'dataset',
      title: 'Dataset',
      cell: (experiment) => <DatasetLink experiment={experiment} names={names} />,
    },
    {
      name: 'target',
      title: 'Target',
      cell: (experiment) => <TargetText experiment={experiment} names={names} />,
    },
    { name: 'state', title: 'State', cell: (experiment) => <Standing experiment={experiment} /> },
    { name: 'cost', title: 'Cost', isNumber: true, cell: (experiment) => <Spend experiment={experiment} /> },
    {
      name: 'evaluators',
      title: 'Evaluators',
      cell: (experiment) => <EvaluatorLinks experiment={experiment} names={names} />,
    },
    { name: 'when', title: 'When', cell: ({ created_at }) => <Moment at={created_at} /> },
  ];
}

function DatasetChoice() {
  const { query, set } = useAddress();
  const { data } = useDatasets();
  const chosen = query.dataset ?? '';
  return (
    <select
      class="experiments-dataset"
      aria-label="Dataset"
      value={chosen}
      onChange={({ currentTarget }) => set({ dataset: currentTarget.value })}
    >
      {datasetOptions('All datasets', data ?? [], chosen).map(({ name, label }) => (
        <option key={name} value={name}>
          {label}
        </option>
      ))}
    </select>
  );
}

function PickBar({ picked, onClear }: { picked: readonly ExperimentJson[]; onClear: () => void }) {
  if (picked.length === 0) return null;
  return (
    <section class="experiments-picked" aria-label="Picked experiments">
      <strong>{picked.length} picked</strong>
      <a class="button primary" href={comparisonAddress(withBaselineFirst(picked))}>
        Compare
      </a>
      <button type="button" class="quiet" onClick={onClear}>
        Clear
      </button>
      {picked.length === MOST_COMPARED && (
        <span class="muted">Up to {MOST_COMPARED} can be compared at once</span>
      )}
    </section>
  );
}

function Empty({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <p>No experiment is over this dataset yet.</p>;
  return (
    <>
      <h2>No experiments yet</h2>
      <p>
        An experiment puts the items of a <a href="/datasets">dataset</a> to a model or a prompt, grades each
        answer by your evaluators, and can be compared with another one.
      </p>
    </>
  );
}

/** The page. */
export function Experiments() {
  const { query, go } = useAddress();
  const datasetId = query.dataset ?? '';
  const box = useRowKeys('Experiments', 'experiment');
  const [pickedIds, setPickedIds] = useState<readonly string[]>([]);
  const { rows, failure, isLoading, reload, more } = useExperiments(datasetId);
  const { names, resource } = useNames(rows);
  const picked = rows.filter(({ id }) => pickedIds.includes(id));
  const pick = ({ id }: ExperimentJson, isPicked: boolean) =>
    setPickedIds((before) => (isPicked ? [...before, id] : before.filter((one) => one !== id)));
  const newAddress = href('/experiments/new', { dataset: datasetId });
  useKeys('Experiments', {
    n: { what: 'New experiment', run: () => may('write') && go(newAddress) },
    c: {
      what: 'Compare the picked experiments',
      run: () => picked.length > 0 && go(comparisonAddress(withBaselineFirst(picked))),
    },
  });
  return (
    <>
      <header class="page-head">
        <h1>Experiments</h1>
        <DatasetChoice />
        <WithScope scope="write" what="make experiments">
          <a class="button primary" href={newAddress}>
            New experiment
          </a>
        </WithScope>
      </header>
      <FailureNotice
        failure={failure ?? resource.failure}
        retry={failure === null ? resource.reload : reload}
      />
      <PickBar picked={picked} onClear={() => setPickedIds([])} />
      <div ref={box}>
        <Table
          caption="Experiments"
          columns={columnsOf(names, { picked, pick })}
          rows={rows}
          keyOf={({ id }) => id}
          isLoading={isLoading}
          empty={<Empty isFiltered={datasetId !== ''} />}
        />
      </div>
      <Older more={more} />
    </>
  );
}
