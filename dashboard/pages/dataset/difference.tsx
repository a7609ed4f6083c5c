/** The difference between two versions of a dataset. */
import type { DiffJson, StoredDatasetItem } from '#core/contracts/dataset.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { datasetPath } from '../../parts/datasets/load.ts';
import { requestPreview, valuePreview } from '../../parts/datasets/preview.ts';
import { StructureTable } from '../../parts/diff/structure-table.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { count } from '../../parts/formats/numbers.ts';
import { MoreButton } from '../../parts/table/more-button.tsx';
import { usePages } from '../../parts/table/use-pages.ts';
import { Hostile } from '../../parts/text/hostile.tsx';

type Changed = DiffJson['items'][number];
type DifferenceProps = { id: string; from: number; to: number };

/** Each shows its fields when it is opened. */
const PAGE_SIZE = 50;

const LOOKS: Readonly<Record<Changed['change'], string>> = {
  added: 'chip chip-good',
  changed: 'chip chip-warn',
  removed: 'chip chip-bad',
};

function path(id: string): string {
  return datasetPath(id, '/diff');
}

/** The members of an item that make its content. */
function contentOf(item: StoredDatasetItem | null): unknown {
  if (item === null || 'erased' in item) return {};
  const { id: _, ...content } = item;
  return content;
}

function Summary({ item }: { item: StoredDatasetItem | null }) {
  if (item === null) return null;
  if ('erased' in item) return <p class="muted">Erased</p>;
  return (
    <p class="dataset-preview">
      <Hostile text={requestPreview(item.request)} />
      {item.expected !== undefined && (
        <>
          {' → '}
          <Hostile text={valuePreview(item.expected)} />
        </>
      )}
    </p>
  );
}

function Change({ changed, from, to }: { changed: Changed } & Omit<DifferenceProps, 'id'>) {
  const { id, externalId, change, before, after } = changed;
  return (
    <li class="card">
      <span class={LOOKS[change]}>{change}</span>{' '}
      <strong class="break">
        <Hostile text={externalId ?? id} />
      </strong>
      {change === 'changed' ? (
        <StructureTable
          documents={[contentOf(before), contentOf(after)]}
          titles={[`Version ${from}`, `Version ${to}`]}
        />
      ) : (
        <Summary item={after ?? before} />
      )}
    </li>
  );
}

function Counts({ id, from, to }: DifferenceProps) {
  const { data } = useResource(`difference counts ${id} ${from} ${to}`, (signal) =>
    call<DiffJson>('POST', path(id), { from, to, limit: 1 }, signal),
  );
  if (data === null) return null;
  return (
    <p>
      {count(data.added)} added, {count(data.changed)} changed, {count(data.removed)} removed
    </p>
  );
}

/** Shows the items that were added, changed and removed. */
export function Difference({ id, from, to }: DifferenceProps) {
  const { rows, failure, isLoading, reload, more } = usePages(
    `difference ${id} ${from} ${to}`,
    async (after, signal) => {
      const body = { from, to, limit: PAGE_SIZE, ...(after !== null && { after }) };
      const { items, next } = await call<DiffJson>('POST', path(id), body, signal);
      return { rows: items, next };
    },
  );
  return (
    <section class="part" aria-label="Difference">
      <h2>
        {from === 0 ? 'Nothing' : `Version ${from}`} and version {to}
      </h2>
      <FailureNotice failure={failure} retry={reload} />
      <Counts id={id} from={from} to={to} />
      {isLoading && rows.length === 0 && <p class="muted">Comparing …</p>}
      {!isLoading && failure === null && rows.length === 0 && <p class="muted">Both are equal.</p>}
      <ul class="plain-list draft-messages">
        {rows.map((changed) => (
          <Change key={changed.id} changed={changed} from={from} to={to} />
        ))}
      </ul>
      <MoreButton more={more} label="Show more" />
    </section>
  );
}
