/** Parts of a page that are fetched when they are wanted, while the rest of the page stays as it is. */
import type { ComponentType } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { afterPriority } from '../../client/priority.ts';
import { tellMissingPart } from './missing-part.ts';

/**
 * Returns a component once it is there; null before, and while it is not wanted.
 * @param load of the module, the same function in each rendering
 */
export function useLater<Props>(
  load: () => Promise<ComponentType<Props>>,
  isWanted: boolean,
): ComponentType<Props> | null {
  const [part, setPart] = useState<ComponentType<Props> | null>(null);
  useLayoutEffect(() => {
    if (!isWanted || part !== null) return;
    let isShown = true;
    load().then(
      // A component is a function, which would be called for the next state.
      (loaded) => isShown && setPart(() => loaded),
      () => isShown && tellMissingPart(),
    );
    return () => {
      isShown = false;
    };
  }, [isWanted, part, load]);
  return isWanted ? part : null;
}

/** When the list is slow, its charts, counts and menus are fetched nevertheless. */
const LATEST_MS = 300;

/** Returns whether what the page asked for first is on the screen, or late: then the rest is fetched. */
export function useSettled(): boolean {
  const [isSettled, setSettled] = useState(false);
  useLayoutEffect(() => {
    const leaving = new AbortController();
    const settle = () => setSettled(true);
    const timer = setTimeout(settle, LATEST_MS);
    afterPriority(leaving.signal, async () => settle()).catch(() => {});
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, []);
  return isSettled;
}
