/** The page /datasets: all datasets, the newest first. */
import type { DatasetJson, DatasetPage, DatasetQueryBody, NewDatasetBody } from '#core/contracts/dataset.ts';
import { call } from '../../client/call.ts';
import { datasetAddress } from '../../parts/datasets/load.ts';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { WithScope } from '../../parts/form/scope.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { count } from '../../parts/formats/numbers.ts';
import { MoreButton } from '../../parts/table/more-button.tsx';
import { ROW_LINK, useRowKeys } from '../../parts/table/row-keys.ts';
import { type Column, Table } from '../../parts/table/table.tsx';
import { usePages } from '../../parts/table/use-pages.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { href, useAddress } from '../../state/address.ts';
import { useKeys } from '../../state/keys.ts';
import { may } from '../../state/me.ts';
import { DatasetForm } from './dataset-form.tsx';

const PAGE_SIZE = 50;

const COLUMNS: readonly Column<DatasetJson>[] = [
  {
    name: 'name',
    title: 'Name',
    cell: ({ id, name }) => (
      <a class={`${ROW_LINK} break`} href={datasetAddress(id)}>
        <Hostile text={name} />
      </a>
    ),
  },
  {
    name: 'description',
    title: 'Description',
    cell: ({ description }) => (
      <span class="break clamped">
        <Hostile text={description} />
      </span>
    ),
  },
  { name: 'items', title: 'Items', isNumber: true, cell: ({ items }) => count(items) },
  {
    name: 'version',
    title: 'Version',
    isNumber: true,
    cell: ({ id, version }) => (
      <a href={datasetAddress(id, { tab: 'versions' })}>{version === 0 ? 'none' : version}</a>
    ),
  },
  {
    name: 'experiments',
    title: 'Experiments',
    cell: ({ id }) => <a href={href('/experiments', { dataset: id })}>Show</a>,
  },
  { name: 'updated', title: 'Changed', cell: ({ updated_at }) => <Moment at={updated_at} /> },
];

function Search() {
  const { query, set } = useAddress();
  const isArchived = query.archived === '1';
  return (
    <form
      class="prompts-search"
      onSubmit={(event) => {
        event.preventDefault();
        const { value } = event.currentTarget.elements.namedItem('search') as HTMLInputElement;
        set({ search: value });
      }}
    >
      <input
        type="search"
        name="search"
        aria-label="Search by name"
        placeholder="A part of the name"
        defaultValue={query.search ?? ''}
        key={query.search}
      />
      <button type="submit">Search</button>
      <button
        type="button"
        aria-pressed={isArchived}
        onClick={() => set({ archived: isArchived ? null : '1' })}
      >
        Archived
      </button>
    </form>
  );
}

function Empty({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <p>No dataset matches.</p>;
  return (
    <>
      <h2>No datasets yet</h2>
      <p>
        A dataset holds requests to put to models, with the answers that are expected. Make one, then add
        requests of <a href="/requests">the list</a>, or import a file.
      </p>
    </>
  );
}

function NewDataset() {
  const { set, go } = useAddress();
  const create = async (body: NewDatasetBody) => {
    const { id } = await call<{ id: string }>('POST', '/v1/dataset', body);
    go(datasetAddress(id));
  };
  return (
    <Dialog title="New dataset" onClose={() => set({ new: null })}>
      <DatasetForm verb="Create dataset" dataset={null} save={create} />
    </Dialog>
  );
}

function queryOf({ search = '', archived }: Readonly<Record<string, string>>): DatasetQueryBody {
  return {
    limit: PAGE_SIZE,
    ...(search !== '' && { search }),
    ...(archived === '1' && { archived: true }),
  };
}

/** The page. */
export function Datasets() {
  const { query, set } = useAddress();
  const box = useRowKeys('Datasets', 'dataset');
  const openNew = () => set({ new: '1' });
  useKeys('Datasets', { n: { what: 'New dataset', run: () => may('write') && openNew() } });
  const body = queryOf(query);
  const { rows, failure, isLoading, reload, more } = usePages(
    `datasets ${JSON.stringify(body)}`,
    async (after, signal) => {
      const whole = { ...body, ...(after !== null && { after }) };
      const { datasets, next } = await call<DatasetPage>('POST', '/v1/dataset/query', whole, signal);
      return { rows: datasets, next };
    },
  );
  const isFiltered = body.search !== undefined || body.archived === true;
  return (
    <>
      <header class="page-head">
        <h1>Datasets</h1>
        <WithScope scope="write" what="make datasets">
          <button type="button" class="primary" onClick={openNew}>
            New dataset
          </button>
        </WithScope>
      </header>
      <Search />
      <FailureNotice failure={failure} retry={reload} />
      <div ref={box}>
        <Table
          caption="Datasets"
          columns={COLUMNS}
          rows={rows}
          keyOf={({ id }) => id}
          isLoading={isLoading}
          empty={<Empty isFiltered={isFiltered} />}
        />
      </div>
      <MoreButton more={more} />
      {query.new !== undefined && may('write') && <NewDataset />}
    </>
  );
}
