/** The sessions: requests that belong together. */
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { count } from '../../parts/formats/numbers.ts';
import { besideBar } from '../../parts/query-bar/beside-bar.ts';
import { RangePicker } from '../../parts/range/range-picker.tsx';
import { useRowKeys } from '../../parts/table/row-keys.ts';
import { Table } from '../../parts/table/table.tsx';
import { ViewsMenu } from '../../parts/views/views-menu.tsx';
import { columnsFor } from './columns.tsx';
import { Distributions } from './distributions.tsx';
import { NothingFound } from './nothing-found.tsx';
import { Search } from './search.tsx';
import { PAGE } from './stretch.ts';
import { type SessionList, useSessions } from './use-sessions.ts';

function List({ list }: { list: SessionList }) {
  const { address, sessions, rows, pages, offset, hasMore } = list;
  const box = useRowKeys('List of sessions', 'session');
  return (
    <div ref={box} class="sessions-list">
      {offset > 0 && (
        <p class="muted">
          Sessions {count(offset + 1)} to {count(offset + sessions.length)}.{' '}
          <button type="button" onClick={() => address.set({ page: null })}>
            Back to the newest
          </button>
        </p>
      )}
      <Table
        caption="Sessions, the newest first"
        columns={columnsFor(address)}
        rows={sessions}
        keyOf={({ session_id: id }) => id}
        isLoading={rows.isLoading}
      />
      {hasMore && (
        <p class="sessions-more">
          <button type="button" onClick={() => address.set({ page: String(pages + 1) }, { replace: true })}>
            {count(PAGE)} more
          </button>
        </p>
      )}
    </div>
  );
}

/** The page /sessions. */
export function Sessions() {
  const list = useSessions();
  const { q, rows, sessions } = list;
  const isEmpty = rows.data !== null && sessions.length === 0 && !rows.isLoading && rows.failure === null;
  return (
    <div class="sessions">
      <div class="page-head">
        <h1>Sessions</h1>
        <RangePicker />
        <button type="button" onClick={rows.reload}>
          Refresh
        </button>
        <ViewsMenu page="sessions" />
      </div>
      <Search list={list} />
      <FailureNotice failure={besideBar(rows.failure, q)} retry={rows.reload} />
      {isEmpty && <NothingFound list={list} />}
      {sessions.length > 0 && (
        <>
          <Distributions list={list} />
          <List list={list} />
        </>
      )}
      {rows.data === null && rows.isLoading && <p class="muted">Loading…</p>}
    </div>
  );
}
