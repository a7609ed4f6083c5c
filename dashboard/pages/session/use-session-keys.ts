/** Keys of a session's page. */
import { useKeys } from '../../state/keys.ts';
import { enterKey } from './enter-key.ts';
import { stepTo } from './step-to.ts';
import type { SessionView } from './use-view.ts';

/** Binds the keys that move through the requests of a session. */
export function useSessionKeys({ order, failed, current, setCurrent, open, address }: SessionView): void {
  const move = (ids: readonly string[], step: number) => {
    const next = stepTo(ids, current, step);
    if (next !== null) setCurrent(next);
  };
  const moveToError = (step: number) => {
    const at = current === null ? -1 : order.indexOf(current);
    const ahead = step > 0 ? order.slice(at + 1) : order.slice(0, Math.max(0, at)).toReversed();
    const found = ahead.find((id) => failed.has(id));
    if (found !== undefined) setCurrent(found);
  };
  const next = { what: 'Next request', run: () => move(order, 1), mayRepeat: true };
  const previous = { what: 'Previous request', run: () => move(order, -1), mayRepeat: true };
  useKeys('Session', {
    j: next,
    k: previous,
    ArrowDown: next,
    ArrowUp: previous,
    e: { what: 'Next error', run: () => moveToError(1), mayRepeat: true },
    'Shift+e': { what: 'Previous error', run: () => moveToError(-1), mayRepeat: true },
    ...(current === null
      ? {}
      : {
          Enter: enterKey('Open the request', () => open(current)),
          o: {
            what: 'Open it on a page',
            run: () => address.go(`/requests/${encodeURIComponent(current)}`),
          },
        }),
    ...(address.query.r === undefined
      ? {}
      : {
          Escape: {
            what: 'Close the request',
            run: () => address.set({ r: null, tab: null, p: null }),
          },
        }),
  });
}
