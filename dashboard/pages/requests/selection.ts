/** The selected requests: for comparing, grading, exporting. */
import { useCallback, useRef, useState } from 'preact/hooks';
import type { RequestRow } from '#core/contracts/rows.ts';

export type Selection = {
  ids: ReadonlySet<string>;
  /** Selects or lets go; `isRange` selects all rows from the last one on. */
  toggle: (id: string, isRange: boolean) => void;
  clear: () => void;
};

/**
 * Returns the ids from one row to another, both included.
 * @internal for tests
 */
export function idsBetween(rows: readonly RequestRow[], one: string, other: string): string[] {
  const places = [one, other].map((id) => rows.findIndex(({ request_id }) => request_id === id));
  if (places.includes(-1)) return [other];
  return rows.slice(Math.min(...places), Math.max(...places) + 1).map(({ request_id }) => request_id);
}

/** Keeps a selection, also of rows that the list no longer shows. */
export function useSelection(rows: readonly RequestRow[]): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string | null>(null);
  const latestRows = useRef(rows);
  latestRows.current = rows;
  const toggle = useCallback((id: string, isRange: boolean) => {
    const start = last.current;
    last.current = id;
    setIds((before) => {
      const next = new Set(before);
      if (isRange && start !== null) {
        for (const one of idsBetween(latestRows.current, start, id)) next.add(one);
      } else if (!next.delete(id)) next.add(id);
      return next;
    });
  }, []);
  return { ids, toggle, clear: useCallback(() => setIds(new Set()), []) };
}
