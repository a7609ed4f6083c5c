/** The users that requests name: what each asked and cost. */
import { useMemo } from 'preact/hooks';
import type { UserMetrics, UserMetricsPage } from '#core/contracts/users.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { facetValues, loadFieldNames } from '../../parts/facets/values-later.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { count, plural } from '../../parts/formats/numbers.ts';
import { besideBar } from '../../parts/query-bar/beside-bar.ts';
import { QueryBar } from '../../parts/query-bar/query-bar.tsx';
import { RangePicker } from '../../parts/range/range-picker.tsx';
import { useRowKeys } from '../../parts/table/row-keys.ts';
import { readSort } from '../../parts/table/sort.ts';
import { Table } from '../../parts/table/table.tsx';
import { ViewsMenu } from '../../parts/views/views-menu.tsx';
import { useAddress } from '../../state/address.ts';
import { useRange } from '../../state/range.ts';
import { columnsFor } from './columns.tsx';
import { NoUsers } from './no-users.tsx';
import { bodyOf, PAGE, readPage } from './query.ts';

/** Loads the page of the address. */
function useUsers() {
  const address = useAddress();
  const { query } = address;
  const range = useRange();
  const asked = { q: query.q ?? '', range, sort: readSort(query.sort), page: readPage(query.page) };
  const key = `users ${JSON.stringify([asked.q, range.name, query.sort ?? '', asked.page])}`;
  const resource = useResource(key, (signal) =>
    call<UserMetricsPage>('POST', '/v1/user/metrics/query', bodyOf(asked), signal),
  );
  return { ...asked, address, resource };
}

type List = ReturnType<typeof useUsers>;

function Pager({ list: { address, page }, total }: { list: List; total: number }) {
  const last = Math.max(1, Math.ceil(total / PAGE));
  if (last === 1 && page === 1) return null;
  const goTo = (next: number) => address.set({ page: next === 1 ? null : String(next) });
  return (
    <p class="users-pager">
      <button type="button" disabled={page <= 1} onClick={() => goTo(Math.min(last, page - 1))}>
        Previous
      </button>
      Page {count(page)} of {count(last)}
      <button type="button" disabled={page >= last} onClick={() => goTo(page + 1)}>
        Next
      </button>
    </p>
  );
}

function Found({ list, found }: { list: List; found: UserMetricsPage }) {
  const { address, resource, sort, range } = list;
  const box = useRowKeys('List of users', 'user');
  return (
    <div ref={box} class="users-list">
      <Table<UserMetrics>
        caption="Users"
        columns={columnsFor(range.name)}
        rows={found.users}
        keyOf={({ user_id: id }) => id}
        sort={sort}
        onSort={(next) => address.set({ sort: next, page: null })}
        isLoading={resource.isLoading}
      />
      <Pager list={list} total={found.count} />
    </div>
  );
}

/** The page /users. */
export function Users() {
  const list = useUsers();
  const { address, q, range, resource } = list;
  const { data, failure, isLoading, reload } = resource;
  const { from, to } = range;
  const completeValues = useMemo(() => facetValues({ q, from, to }), [q, from, to]);
  const isEmpty = data !== null && data.users.length === 0;
  return (
    <div class="users">
      <div class="page-head">
        <h1>Users</h1>
        {data !== null && <span class="muted">{plural(data.count, 'user')}</span>}
        <RangePicker />
        <button type="button" onClick={reload}>
          Refresh
        </button>
        <ViewsMenu page="users" />
      </div>
      <QueryBar
        value={q}
        onCommit={(next) => address.set({ q: next, page: null })}
        completeValues={completeValues}
        loadNames={loadFieldNames}
      />
      <FailureNotice failure={besideBar(failure, q)} retry={reload} />
      {data === null && isLoading && <p class="muted">Loading…</p>}
      {isEmpty && !isLoading && failure === null && (
        <NoUsers hasUsers={data.hasUsers} hasQuery={q.trim() !== ''} />
      )}
      {data !== null && !isEmpty && <Found list={list} found={data} />}
    </div>
  );
}
