/** The items of a version, with filters that are in the address. */
import type { DatasetVersionJson, StoredDatasetItem } from '#core/contracts/dataset.ts';
import { loadItems } from '../../parts/datasets/load.ts';
import { requestPreview, valuePreview } from '../../parts/datasets/preview.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { MoreButton } from '../../parts/table/more-button.tsx';
import { ROW_LINK, useRowKeys } from '../../parts/table/row-keys.ts';
import { type Column, Table } from '../../parts/table/table.tsx';
import { type Pages, usePages } from '../../parts/table/use-pages.ts';
import { Hostile } from '../../parts/text/hostile.tsx';
import { href, useAddress } from '../../state/address.ts';
import { itemQuery } from './address.ts';

const PAGE_SIZE = 50;
const SPLITS = 'dataset-splits';

type Row = StoredDatasetItem;

/** Loads the items that the address asks for. */
export function useItems(id: string): Pages<Row> {
  const query = itemQuery(useAddress().query);
  return usePages(`items ${id} ${JSON.stringify(query)}`, async (after, signal) => {
    const body = { ...query, limit: PAGE_SIZE, ...(after !== null && { after }) };
    const { items, next } = await loadItems(id, body, signal);
    return { rows: items, next };
  });
}

/** A value of an item: a click shows the items that share it. */
function Value({ name, value }: { name: 'split' | 'cluster'; value: string | undefined }) {
  const { path, query } = useAddress();
  if (value === undefined) return null;
  return (
    <a
      class="break"
      href={href(path, { ...query, [name]: value, item: null })}
      title="Only items with this value"
    >
      <Hostile text={value} />
    </a>
  );
}

function Preview({ text }: { text: string }) {
  return (
    <span class="break clamped">
      <Hostile text={text} />
    </span>
  );
}

function NameCell({ item }: { item: Row }) {
  const { path, query } = useAddress();
  const name = 'erased' in item ? null : (item.externalId ?? null);
  return (
    <a class={`${ROW_LINK} break`} href={href(path, { ...query, item: item.id })}>
      {name === null ? <code>{item.id}</code> : <Hostile text={name} />}
    </a>
  );
}

const COLUMNS: readonly Column<Row>[] = [
  { name: 'name', title: 'Item', cell: (item) => <NameCell item={item} /> },
  {
    name: 'split',
    title: 'Split',
    cell: (item) => !('erased' in item) && <Value name="split" value={item.split} />,
  },
  {
    name: 'cluster',
    title: 'Cluster',
    cell: (item) => !('erased' in item) && <Value name="cluster" value={item.cluster} />,
  },
  {
    name: 'request',
    title: 'Request',
    cell: (item) =>
      'erased' in item ? <span class="muted">Erased</span> : <Preview text={requestPreview(item.request)} />,
  },
  {
    name: 'expected',
    title: 'Expected',
    cell: (item) => !('erased' in item) && <Preview text={valuePreview(item.expected)} />,
  },
];

function Filters({ versions, rows }: { versions: readonly DatasetVersionJson[]; rows: readonly Row[] }) {
  const { query, set } = useAddress();
  const splits = [...new Set(rows.flatMap((row) => ('erased' in row ? [] : (row.split ?? []))))].toSorted();
  const isKnown = versions.some(({ version }) => String(version) === query.version);
  const other = query.version === undefined || isKnown ? [] : [query.version];
  const text = (name: string) => query[name] ?? '';
  return (
    <form
      class="prompts-search"
      key={`${query.split} ${query.cluster} ${query.search}`}
      onSubmit={(event) => {
        event.preventDefault();
        const { elements } = event.currentTarget;
        const fieldText = (name: string) => (elements.namedItem(name) as HTMLInputElement).value;
        set({
          search: fieldText('search'),
          split: fieldText('split'),
          cluster: fieldText('cluster'),
          item: null,
        });
      }}
    >
      <select
        aria-label="Version"
        value={text('version')}
        onChange={({ currentTarget }) => set({ version: currentTarget.value, item: null })}
      >
        <option value="">The newest version</option>
        {versions.map(({ version }) => (
          <option key={version} value={version}>
            Version {version}
          </option>
        ))}
        {other.map((version) => (
          <option key={version} value={version}>
            Version {version}
          </option>
        ))}
      </select>
      <input
        type="search"
        name="search"
        aria-label="Search items"
        placeholder="A part of the request or of what is expected"
        defaultValue={text('search')}
      />
      <input name="split" aria-label="Split" placeholder="Split" list={SPLITS} defaultValue={text('split')} />
      <input name="cluster" aria-label="Cluster" placeholder="Cluster" defaultValue={text('cluster')} />
      <datalist id={SPLITS}>
        {splits.map((split) => (
          <option key={split} value={split} />
        ))}
      </datalist>
      <button type="submit">Search</button>
      {(query.search ?? query.split ?? query.cluster) !== undefined && (
        <button
          type="button"
          class="quiet"
          onClick={() => set({ search: null, split: null, cluster: null, item: null })}
        >
          Clear
        </button>
      )}
    </form>
  );
}

export type ItemsProps = {
  versions: readonly DatasetVersionJson[];
  items: Pages<Row>;
};

/** Shows the filters and the items. */
export function Items({ versions, items }: ItemsProps) {
  const { query } = useAddress();
  const box = useRowKeys('Items', 'item');
  const { rows, failure, isLoading, reload, more } = items;
  const { version: _, ...filters } = itemQuery(query);
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <Filters versions={versions} rows={rows} />
      <FailureNotice failure={failure} retry={reload} />
      <div ref={box}>
        <Table
          caption="Items"
          columns={COLUMNS}
          rows={rows}
          keyOf={({ id }) => id}
          isLoading={isLoading}
          empty={
            isFiltered ? (
              <p>No item matches.</p>
            ) : (
              <p>
                There are no items yet. Import a file, or pick requests in <a href="/requests">the list</a>{' '}
                and add them.
              </p>
            )
          }
        />
      </div>
      <MoreButton more={more} label="Show more" />
    </>
  );
}
