/** Two to four requests beside one another. */
import { useState } from 'preact/hooks';
import { useResource } from '../../client/resource.ts';
import type { Side } from '../../parts/conversation/model/types.ts';
import { StructureTable } from '../../parts/diff/structure-table.tsx';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { useAddress } from '../../state/address.ts';
import { FactTable } from './fact-table.tsx';
import { type Compared, loadCompared, MOST, readIds } from './load.ts';
import { TextColumns } from './text-columns.tsx';

function Adding({ ids, onChange }: { ids: readonly string[]; onChange: (ids: readonly string[]) => void }) {
  const [id, setId] = useState('');
  if (ids.length >= MOST) return null;
  return (
    <form
      class="compare-add"
      onSubmit={(event) => {
        event.preventDefault();
        if (id.trim() !== '') onChange([...ids, id.trim()]);
        setId('');
      }}
    >
      <input
        type="text"
        aria-label="Id of another request"
        placeholder="Id of another request"
        value={id}
        onInput={(event) => setId(event.currentTarget.value)}
      />
      <button type="submit">Add</button>
    </form>
  );
}

function Sides({ compared, base }: { compared: readonly Compared[]; base: number }) {
  const { query, set } = useAddress();
  const isDiff = query.diff !== '0';
  const titles: Record<Side, string> = { response: 'Answers', request: 'Requests' };
  return (
    <>
      <button
        type="button"
        aria-pressed={isDiff}
        onClick={() => set({ diff: isDiff ? '0' : null }, { replace: true })}
      >
        Mark differences
      </button>
      {(['response', 'request'] as const).map((side) => (
        <section key={side} class="compare-side">
          <h2>{titles[side]}</h2>
          <TextColumns texts={compared.map(({ texts }) => texts[side])} base={base} isDiff={isDiff} />
          <details>
            <summary>Fields that differ</summary>
            <StructureTable
              documents={compared.map(({ bodies }) => bodies[side])}
              titles={compared.map((_, index) => `Request ${index + 1}`)}
            />
          </details>
        </section>
      ))}
    </>
  );
}

/** The page /compare. */
export function Compare() {
  const { query, set } = useAddress();
  const ids = readIds(query.ids);
  const base = Math.max(0, ids.indexOf(query.base ?? ''));
  const key = `compare ${ids.join(' ')}`;
  const { data, dataKey, failure, isLoading, reload } = useResource(ids.length === 0 ? null : key, (signal) =>
    loadCompared(ids, signal),
  );
  const change = (next: readonly string[]) => set({ ids: next.join(',') });
  return (
    <div class={isLoading ? 'compare busy' : 'compare'}>
      <div class="page-head">
        <h1>Compare</h1>
        <Adding ids={ids} onChange={change} />
      </div>
      <FailureNotice failure={failure} retry={reload} />
      {ids.length === 0 && (
        <p class="empty">
          Select requests in <a href="/requests">the list</a> (key <kbd>x</kbd>) and press <kbd>c</kbd>, or
          add their ids above.
        </p>
      )}
      {data !== null && dataKey === key && (
        <>
          <FactTable
            heads={data.map(({ head }) => head)}
            base={base}
            onBase={(id) => set({ base: id }, { replace: true })}
            onOrder={change}
          />
          <Sides compared={data} base={base} />
        </>
      )}
    </div>
  );
}
