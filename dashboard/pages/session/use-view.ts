/** What a session's page shows of it, as the address says. */
import { useCallback, useMemo, useState } from 'preact/hooks';
import { type Address, useAddress } from '../../state/address.ts';
import { isFailed, type Leaf, leavesOf, readClosed, type TreeRow, treeRows } from './tree.ts';
import type { LoadedSession } from './use-session.ts';

/** The tabs; the first one is there without a name in the address. */
export const TAB_PARAMETER = 'show';

export type SessionView = {
  address: Address;
  isErrorsOnly: boolean;
  closed: ReadonlySet<string>;
  /** The rows of the tree. */
  rows: readonly TreeRow[];
  /** All requests, the oldest first. */
  all: readonly Leaf[];
  /** Those that the waterfall shows. */
  shown: readonly Leaf[];
  /** Ids of the requests on the screen's tab, in their order. */
  order: readonly string[];
  failed: ReadonlySet<string>;
  /** When the first request was sent. */
  begin: number;
  /** The request that keys act on. */
  current: string | null;
  setCurrent: (id: string) => void;
  /** Shows a request beside the session. */
  open: (id: string) => void;
};

/** Returns the view of a session. */
export function useSessionView({ tree }: LoadedSession): SessionView {
  const address = useAddress();
  const { query, set } = address;
  const [cursor, setCursor] = useState<string | null>(null);
  const opened = query.r ?? null;
  const isErrorsOnly = query.errors === '1';
  const closed = useMemo(() => readClosed(query.closed), [query.closed]);
  const all = useMemo(() => leavesOf(tree), [tree]);
  const rows = useMemo(() => treeRows(tree, closed, isErrorsOnly), [tree, closed, isErrorsOnly]);
  const shown = useMemo(
    () => (isErrorsOnly ? all.filter(({ request }) => isFailed(request)) : all),
    [all, isErrorsOnly],
  );
  const failed = useMemo(
    () => new Set(all.flatMap(({ request }) => (isFailed(request) ? [request.request_id] : []))),
    [all],
  );
  const isTree = query[TAB_PARAMETER] === undefined;
  const order = useMemo(
    () =>
      isTree
        ? rows.flatMap((row) => (row.kind === 'request' ? [row.request.request_id] : []))
        : shown.map(({ request }) => request.request_id),
    [isTree, rows, shown],
  );
  const isOpen = opened !== null;
  const setCurrent = useCallback(
    (id: string) => {
      setCursor(id);
      if (isOpen) set({ r: id }, { replace: true });
    },
    [set, isOpen],
  );
  const open = useCallback(
    (id: string) => {
      setCursor(id);
      set({ r: id });
    },
    [set],
  );
  const begin = all.length === 0 ? 0 : Date.parse(all[0]!.request.created_at);
  return {
    address,
    isErrorsOnly,
    closed,
    rows,
    all,
    shown,
    order,
    failed,
    begin,
    current: opened ?? cursor,
    setCurrent,
    open,
  };
}
