/** The list that the address names: its query, order and columns, and the rows it finds. */
import { useCallback, useEffect, useMemo, useRef } from 'preact/hooks';
import type { SortField } from '#core/contracts/query.ts';
import { callAhead } from '../../client/call.ts';
import { useSettled } from '../../parts/later/use-later.ts';
import { readSort, type Sort } from '../../parts/table/sort.ts';
import { type Address, addressNow, useAddress } from '../../state/address.ts';
import { minuteNow, type Range, readRange, useRange, withRange } from '../../state/range.ts';
import { type GridColumn, neededColumns, readColumns } from './columns.ts';
import { keepPlace, readPlace } from './place.ts';
import { firstPage, type RowQuery, type RowsOnScreen, useRows } from './use-rows.ts';

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
export function canBeLive({ range, sort }: { range: Range; sort: Sort | null }): boolean {
  return range.isRelative && sort === null;
}

/** What an address says of the list, without the rows. */
type Asked = Pick<RequestList, 'q' | 'wholeQuery' | 'sort' | 'isLive'> & { asked: RowQuery };

/** Reads an address. */
function readList(query: Address['query'], range: Range, columns: GridColumn[]): Asked {
  const q = query.q ?? '';
  const wholeQuery = withRange(q, range);
  const sort = readKnownSort(query.sort);
  // Of the newest alone: no other order has its news at the top.
  const isLive = query.live === '1' && canBeLive({ range, sort });
  const name = JSON.stringify([q, range.name, query.sort ?? '', query.cols ?? '']);
  const asked = {
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
  };
  return { q, wholeQuery, sort, isLive, asked };
}

/** Asks for the first rows of the address before the page is there. */
export function askRowsAhead(): void {
  const { query } = addressNow();
  const range = readRange(query.range, minuteNow());
  callAhead(...firstPage(readList(query, range, readColumns(query.cols)).asked));
}

/** Reads the address and loads the list. */
export function useList(): RequestList {
  const address = useAddress();
  const { query } = address;
  const range = useRange();
  const columns = useMemo(() => readColumns(query.cols), [query.cols]);
  const { asked, ...list } = readList(query, range, columns);
  const { name } = asked;
  const rows = useRows(asked);
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
  return { ...list, address, range, columns, rows, isSettled, onPlace };
}
