/** The list that the address names: its query, order and columns, and the rows it finds. */
import { useCallback, useEffect, useMemo, useRef } from 'preact/hooks';
import type { SortField } from '#core/contracts/query.ts';
import { useSettled } from '../../parts/later/use-later.ts';
import { readSort, type Sort } from '../../parts/table/sort.ts';
import { type Address, useAddress } from '../../state/address.ts';
import { type Range, useRange, withRange } from '../../state/range.ts';
import { type GridColumn, neededColumns, readColumns } from './columns.ts';
import { keepPlace, readPlace } from './place.ts';
import { type RowsOnScreen, useRows } from './use-rows.ts';

const SORTS: readonly SortField[] = [
  'created_at',
  'latency',
  'cost',
  'tokens',
  'prompt_tokens',
  'completion_tokens',
  'time_to_first_token',
];
/** Pauses of scrolling after which the place is kept. */
const SETTLED_MS = 150;

export type RequestList = {
  address: Address;
  range: Range & { set: (name: string) => void };
  /** As written in the bar. */
  q: string;
  /** With the range. */
  wholeQuery: string;
  sort: Sort | null;
  columns: GridColumn[];
  isLive: boolean;
  rows: RowsOnScreen;
  /** The first rows are on the screen, or late: what surrounds them is fetched. */
  isSettled: boolean;
  /** Told which row is the uppermost one; null: the list is at its beginning. */
  onPlace: (id: string | null, offset: number) => void;
};

function readKnownSort(text: string | undefined): Sort | null {
  const sort = readSort(text);
  return sort !== null && SORTS.some((field) => field === sort.column) ? sort : null;
}

/** Whether the newest requests are the first ones. */
export function canBeLive({ range, sort }: Pick<RequestList, 'range' | 'sort'>): boolean {
  return range.isRelative && sort === null;
}

/** Reads the address and loads the list. */
export function useList(): RequestList {
  const address = useAddress();
  const { query } = address;
  const range = useRange();
  const q = query.q ?? '';
  const wholeQuery = withRange(q, range);
  const sort = readKnownSort(query.sort);
  // Of the newest alone: no other order has its news at the top.
  const isLive = query.live === '1' && canBeLive({ range, sort });
  const columns = useMemo(() => readColumns(query.cols), [query.cols]);
  const name = JSON.stringify([q, range.name, query.sort ?? '', query.cols ?? '']);
  const rows = useRows({
    name,
    body: {
      q: wholeQuery,
      columns: neededColumns(columns),
      ...(sort === null ? {} : { sort: { [sort.column]: sort.descending ? 'desc' : 'asc' } }),
    },
    keptPlace: () => readPlace(name),
    // A link to a request in the drawer shows it among its neighbours.
    linked: query.r ?? null,
    isLive,
  });
  const isSettled = useSettled();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  // Another function for another address: the place is kept with each step in the history.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const onPlace = useCallback(
    (id: string | null, offset: number) => {
      clearTimeout(timer.current);
      timer.current = setTimeout(() => keepPlace({ key: name, id, offset }), SETTLED_MS);
    },
    [name, query],
  );
  return { address, range, q, wholeQuery, sort, columns, isLive, rows, isSettled, onPlace };
}
