/** What the list is of: a query of requests, a text in ids and names, a name. */
import { useId, useMemo, useState } from 'preact/hooks';
import type { SessionNameRow } from '#core/contracts/session.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { facetValues, loadFieldNames } from '../../parts/facets/values-later.ts';
import { QueryBar } from '../../parts/query-bar/query-bar.tsx';
import { bodyOf, type SessionList } from './use-sessions.ts';

/** Names that are offered. */
const MOST_NAMES = 50;

function NameFilter({ list }: { list: SessionList }) {
  const { address, name, range } = list;
  const [isWanted, setWanted] = useState(false);
  const listId = useId();
  const { data } = useResource(isWanted ? `session names ${range.name}` : null, (signal) =>
    call<SessionNameRow[]>(
      'POST',
      '/v1/session/name/query',
      { ...bodyOf({ q: '', range }), limit: MOST_NAMES },
      signal,
    ),
  );
  return (
    <>
      <input
        // The address decides: a step back shows its text.
        key={name}
        type="search"
        name="name"
        aria-label="Name"
        placeholder="Name"
        list={listId}
        autoComplete="off"
        defaultValue={name}
        onFocus={() => setWanted(true)}
        onChange={(event) => address.set({ name: event.currentTarget.value, page: null })}
      />
      <datalist id={listId}>
        {data?.map((one) => (
          <option key={one.name} value={one.name} />
        ))}
      </datalist>
    </>
  );
}

/** The bar and the fields beside it. */
export function Search({ list }: { list: SessionList }) {
  const { q, search, address } = list;
  const { from, to } = list.range;
  const completeValues = useMemo(() => facetValues({ q, from, to }), [q, from, to]);
  return (
    <>
      <QueryBar
        value={q}
        onCommit={(next) => address.set({ q: next, page: null })}
        completeValues={completeValues}
        loadNames={loadFieldNames}
      />
      <form
        class="sessions-search"
        onSubmit={(event) => {
          event.preventDefault();
          const fields = new FormData(event.currentTarget);
          const text = (name: string) => String(fields.get(name) ?? '').trim();
          address.set({ search: text('search'), name: text('name'), page: null });
        }}
      >
        <input
          key={search}
          type="search"
          name="search"
          aria-label="In id or name"
          placeholder="In id or name"
          autoComplete="off"
          defaultValue={search}
        />
        <NameFilter list={list} />
        <button type="submit">Find</button>
      </form>
    </>
  );
}
