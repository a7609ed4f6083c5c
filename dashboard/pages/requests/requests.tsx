/** The requests: find, read, compare, grade. */
import { useCallback, useMemo, useState } from 'preact/hooks';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { useLater } from '../../parts/later/use-later.ts';
import { besideBar } from '../../parts/query-bar/beside-bar.ts';
import { useKeys } from '../../state/keys.ts';
import { preferences } from '../../state/preferences.ts';
import { Grid } from './grid.tsx';
import { useRowKeys } from './row-keys.ts';
import { Facets, Search } from './search.tsx';
import { useSelection } from './selection.ts';
import { Toolbar } from './toolbar.tsx';
import { canBeLive, type RequestList, useList } from './use-list.ts';

export { askRowsAhead } from './use-list.ts';

const loadQuickFilters = () => import('./asked.ts').then(({ QuickFilters }) => QuickFilters);
const loadBulkBar = () => import('./asked.ts').then(({ BulkBar }) => BulkBar);
const loadNothingFound = () => import('./asked.ts').then(({ NothingFound }) => NothingFound);
const loadDrawer = () => import('../../parts/drawer/drawer.tsx').then(({ Drawer }) => Drawer);

const ROW_PX = 34;
const DENSE_ROW_PX = 26;

function List({
  list,
  current,
  setCurrent,
}: {
  list: RequestList;
  current: string | null;
  setCurrent: (id: string) => void;
}) {
  const { rows, address, columns, sort, onPlace } = list;
  const { window, failure, isLoading, grow, reload } = rows;
  const selection = useSelection(window?.rows ?? []);
  const open = useCallback(
    (id: string) => {
      setCurrent(id);
      address.set({ r: id });
    },
    [address.set, setCurrent],
  );
  const BulkBar = useLater(loadBulkBar, selection.ids.size > 0);
  const isEmpty = window !== null && window.rows.length === 0 && !isLoading && failure === null;
  const NothingFound = useLater(loadNothingFound, isEmpty);
  useRowKeys({ list, current, setCurrent, selection });
  return (
    <>
      <FailureNotice failure={besideBar(failure, list.q)} retry={reload} />
      {BulkBar !== null && <BulkBar selection={selection} onChanged={reload} />}
      {NothingFound !== null && <NothingFound list={list} />}
      {window !== null && window.rows.length > 0 && (
        <div class={isLoading ? 'requests-list busy' : 'requests-list'}>
          <Grid
            window={window}
            columns={columns}
            sort={sort}
            onSort={(text) => address.set({ sort: text })}
            current={current}
            rowHeight={preferences.value.isDense ? DENSE_ROW_PX : ROW_PX}
            isLoading={isLoading}
            grow={grow}
            onPlace={onPlace}
            onOpen={open}
            selected={selection.ids}
            onSelect={selection.toggle}
          />
        </div>
      )}
      {window === null && isLoading && <p class="muted">Loading…</p>}
    </>
  );
}

/** Gives the focus to the current row, else to the list. */
function focusList(): void {
  const box = document.querySelector<HTMLElement>('.grid-box');
  (box?.querySelector<HTMLElement>('.grid-row-current a') ?? box)?.focus();
}

/** The page /requests. */
export function Requests() {
  const list = useList();
  const { address } = list;
  const opened = address.query.r ?? null;
  const [cursor, setCursor] = useState<string | null>(null);
  const current = opened ?? cursor;
  const isOpen = opened !== null;
  const setCurrent = useCallback(
    (id: string) => {
      setCursor(id);
      if (isOpen) address.set({ r: id }, { replace: true });
    },
    [address.set, isOpen],
  );
  const close = useCallback(() => {
    // What had the focus goes.
    if (document.activeElement?.closest('.drawer') != null) focusList();
    address.set({ r: null, tab: null, p: null });
  }, [address.set]);
  useKeys('Requests', {
    l: {
      what: 'Live: the newest requests as they come',
      run: () => {
        if (canBeLive(list)) address.set({ live: list.isLive ? null : '1' });
      },
    },
    ...(isOpen ? { Escape: { what: 'Close the request', run: close } } : {}),
  });
  // Fetched ahead.
  const Drawer = useLater(loadDrawer, list.isSettled || isOpen);
  const QuickFilters = useLater(loadQuickFilters, list.isSettled);
  const neighbours = useMemo(() => {
    const rows = list.rows.window?.rows ?? [];
    const at = rows.findIndex(({ request_id }) => request_id === opened);
    if (at === -1) return [];
    return [1, 2, -1, -2].flatMap((step) => rows[at + step]?.request_id ?? []);
  }, [list.rows.window, opened]);
  return (
    <div class={isOpen ? 'requests requests-open' : 'requests'}>
      <Facets list={list} />
      <div class="requests-main">
        <Toolbar list={list} />
        <Search list={list} />
        <div class="requests-chips">{QuickFilters !== null && <QuickFilters list={list} />}</div>
        <List list={list} current={current} setCurrent={setCurrent} />
      </div>
      {isOpen && Drawer !== null && <Drawer id={opened} neighbours={neighbours} onClose={close} />}
    </div>
  );
}
