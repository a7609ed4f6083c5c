/** Keys of the list. */
import { copyText } from '../../parts/copy/copy.tsx';
import { tellMissingPart } from '../../parts/later/missing-part.ts';
import { attempt, tell } from '../../parts/toast/toast.tsx';
import { href } from '../../state/address.ts';
import { useKeys } from '../../state/keys.ts';
import { rate } from '../../state/ratings.ts';
import type { Selection } from './selection.ts';
import type { RequestList } from './use-list.ts';
import { neighbour } from './window.ts';

export type RowKeysOptions = {
  list: RequestList;
  current: string | null;
  setCurrent: (id: string) => void;
  selection: Selection;
};

const loadCopyAs = () => import('../../parts/request/copy-as.tsx').then(({ copyAs }) => copyAs);
/** The path of a request that the list does not show: most are calls of it. */
const CHAT = '/v1/chat/completions';

/** A request counts as failed from this status on; 0 is one whose gateway died. */
const FIRST_ERROR = 400;

/** Gives the focus to the list: Enter would follow the link of a row that was clicked before. */
function leaveRow(): void {
  const row = document.activeElement?.closest('.grid-row');
  row?.closest<HTMLElement>('.grid-box')?.focus({ preventScroll: true });
}

/** Binds the keys that act on the current row and on the selected ones. */
export function useRowKeys({ list, current, setCurrent, selection }: RowKeysOptions): void {
  const rows = list.rows.window?.rows ?? [];
  const { address } = list;
  const move = (step: number) => {
    leaveRow();
    const next = neighbour(rows, current, step);
    if (next !== null) setCurrent(next.request_id);
  };
  const moveToError = (step: number) => {
    leaveRow();
    const at = rows.findIndex(({ request_id }) => request_id === current);
    const ahead = step > 0 ? rows.slice(at + 1) : rows.slice(0, Math.max(0, at)).toReversed();
    const found = ahead.find(({ response_status: status = 200 }) => status >= FIRST_ERROR || status === 0);
    if (found !== undefined) setCurrent(found.request_id);
    else tell(`No error ${step > 0 ? 'below' : 'above'} among the loaded rows; status:>=400 finds all`);
  };
  const withCurrent = (run: (id: string) => void) => () => {
    if (current !== null) run(current);
  };
  const rated = (rating: boolean) =>
    withCurrent((id) => {
      void attempt(() => rate(id, rating), rating ? 'Rated good' : 'Rated bad');
    });
  useKeys('List of requests', {
    j: { what: 'Next request', run: () => move(1), mayRepeat: true },
    k: { what: 'Previous request', run: () => move(-1), mayRepeat: true },
    ArrowDown: { what: 'Next request', run: () => move(1), mayRepeat: true },
    ArrowUp: { what: 'Previous request', run: () => move(-1), mayRepeat: true },
    Enter: {
      what: 'Open the request; again: go into it',
      run: withCurrent((id) => {
        if (address.query.r === id) document.querySelector<HTMLElement>('.drawer-body')?.focus();
        else address.set({ r: id });
      }),
    },
    o: {
      what: 'Open it on a page',
      run: withCurrent((id) => address.go(`/requests/${encodeURIComponent(id)}`)),
    },
    e: { what: 'Next error', run: () => moveToError(1), mayRepeat: true },
    'Shift+e': { what: 'Previous error', run: () => moveToError(-1), mayRepeat: true },
    x: { what: 'Select', run: withCurrent((id) => selection.toggle(id, false)) },
    'Shift+x': { what: 'Select up to here', run: withCurrent((id) => selection.toggle(id, true)) },
    c: {
      what: 'Compare the selected requests',
      run: () => address.go(href('/compare', { ids: [...selection.ids].slice(0, 4).join(',') })),
    },
    r: {
      what: 'Replay in the playground',
      run: withCurrent((id) => address.go(href('/playground', { from: id }))),
    },
    y: {
      what: 'Copy a link to the request',
      run: withCurrent((id) => {
        void copyText(`${location.origin}/requests/${encodeURIComponent(id)}`, 'Link');
      }),
    },
    'Shift+y': {
      what: 'Copy the request as cURL',
      run: withCurrent((id) => {
        const path = rows.find(({ request_id }) => request_id === id)?.request_path;
        void loadCopyAs().then((copyAs) => copyAs('curl', id, path ?? CHAT), tellMissingPart);
      }),
    },
    '+': { what: 'Rate good', run: rated(true) },
    '-': { what: 'Rate bad', run: rated(false) },
    // A value that has the focus takes it first.
    f: { what: 'Filter by the focused value; with Alt, exclude it', run: () => {} },
  });
}
