/** The page /experiments: all experiments, the newest first, and the choice of some to compare. */
import { useState } from 'preact/hooks';
import type { ExperimentJson, ExperimentListJson } from '#core/contracts/experiment.ts';
import { call } from '../../client/call.ts';
import { DATASETS } from '../../parts/datasets/load.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Chooser } from '../../parts/form/chooser.tsx';
import { Field } from '../../parts/form/field.tsx';
import { WithScope } from '../../parts/form/scope.tsx';
import { useAddressText } from '../../parts/form/use-address-text.ts';
import { Moment } from '../../parts/formats/moment.tsx';
import { MoreButton } from '../../parts/table/more-button.tsx';
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
function useListed({ search = '', dataset = '' }: Readonly<Record<string, string>>): Pages<ExperimentJson> {
  const [everyMs, setEveryMs] = useState(REST_MS);
  const pages = usePages(
    `listed experiments ${JSON.stringify([search, dataset])}`,
    async (after, signal) => {
      const body = {
        limit: PAGE_SIZE,
        ...(search !== '' && { search }),
        ...(dataset !== '' && { datasetId: dataset }),
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

function Filters() {
  const { query, set } = useAddress();
  const text = useAddressText('search');
  return (
    <div class="filters">
      <Field
        label="Name"
        control={(attributes) => (
          <input {...attributes} {...text} type="search" placeholder="A part of the name" />
        )}
      />
      <Chooser
        label="Dataset"
        choices={DATASETS}
        none="All datasets"
        value={query.dataset ?? ''}
        onChange={(dataset) => set({ dataset })}
      />
    </div>
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
  if (isFiltered) return <p>No experiment matches.</p>;
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
  const { rows, failure, isLoading, reload, more } = useListed(query);
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
      <Filters />
      <PickBar picked={picked} onClear={() => setPickedIds([])} />
      <div ref={box}>
        <Table
          caption="Experiments"
          columns={columnsOf(names, { picked, pick })}
          rows={rows}
          keyOf={({ id }) => id}
          isLoading={isLoading}
          empty={<Empty isFiltered={datasetId !== '' || query.search !== undefined} />}
        />
      </div>
      <MoreButton more={more} />
    </>
  );
}
