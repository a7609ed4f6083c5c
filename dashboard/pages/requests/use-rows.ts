/** Rows of the list: a first page, more at both ends, and the newest once a second. */
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RowPage } from '#core/contracts/rows.ts';
import { ApiFailure, call } from '../../client/call.ts';
import { withPriority } from '../../client/priority.ts';
import { recall, remember } from '../../client/recent.ts';
import { toFailure } from '../../client/resource.ts';
import { noteAsked } from '../../state/ratings.ts';
import { append, beginWindow, MOST_KEPT, prepend, type RowWindow, renew, type Start } from './window.ts';

const PAGE = 100;
const LIVE_MS = 1_000;

export type RowQuery = {
  /** Names the list: with another name it begins anew. A range that moves on with the time keeps its name. */
  name: string;
  /** What the API is asked for, without the page. */
  body: Readonly<Record<string, unknown>>;
  /** Reads the place that was left in this list; null: it was not shown before in this step of the history. */
  keptPlace: () => Start | null;
  /** The request that the first page is around where no place was kept; null: the first page of all. */
  linked: string | null;
  isLive: boolean;
};

export type RowsOnScreen = {
  window: RowWindow | null;
  failure: ApiFailure | null;
  isLoading: boolean;
  /** Loads the page behind the last row, or before the first; does nothing at an end, or while one is loading. */
  grow: (end: 'next' | 'prev') => void;
  reload: () => void;
};

type State = Pick<RowsOnScreen, 'window' | 'failure' | 'isLoading'>;

/** Where a list begins that is not continued. */
const TOP: Start = { id: null, offset: 0 };

/** Returns the rows that were shown before, at a place; null: there are none, or a link leads to a request beyond them. */
function known(key: string, start: Start | null, linked: string | null): RowWindow | null {
  const window = recall<RowWindow>(`rows ${key}`);
  if (window === null) return null;
  const isBeyond = start === null && linked !== null;
  if (isBeyond && !window.rows.some(({ request_id }) => request_id === linked)) return null;
  return { ...window, start: start ?? TOP };
}

type Body = RowQuery['body'];

/** Returns the call for a page of rows. */
const pageCall = (body: Body, place: object) =>
  ['POST', '/v1/request/rows', { ...body, ...place, limit: PAGE }] as const;

const aroundPlace = (id: string | null) => (id === null ? {} : { around: id });

/** Returns where the list begins: a live one at its newest request. */
function startOf({ isLive, keptPlace, linked }: Omit<RowQuery, 'name'>): Start {
  return isLive ? TOP : (keptPlace() ?? { id: linked, offset: 0 });
}

/** Returns the call that a new list begins with. */
export function firstPage(query: RowQuery): ReturnType<typeof pageCall> {
  return pageCall(query.body, aroundPlace(startOf(query).id));
}

async function fetchPage(body: Body, place: object, signal: AbortSignal): Promise<RowPage> {
  const askedMs = performance.now();
  const page = await withPriority(() => call<RowPage>(...pageCall(body, place), signal));
  noteAsked(page.rows, askedMs);
  return page;
}

/** Fetches the page around a request; of one that is no more, or of none, the first page. */
async function fetchAround(body: Body, id: string | null, signal: AbortSignal): Promise<RowPage> {
  try {
    return await fetchPage(body, aroundPlace(id), signal);
  } catch (error) {
    if (id === null || !(error instanceof ApiFailure) || error.status !== 404) throw error;
    return await fetchPage(body, {}, signal);
  }
}

/**
 * Loads the rows of a query. A new query aborts all that the one before still loads; its rows stay until the new ones come.
 */
export function useRows({ name: key, body, keptPlace, linked, isLive }: RowQuery): RowsOnScreen {
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<State>(() => ({
    window: known(key, keptPlace(), linked),
    failure: null,
    isLoading: true,
  }));
  const controller = useRef(new AbortController());
  const isGrowing = useRef(false);
  const latest = useRef({ body, keptPlace, linked, isLive });
  latest.current = { body, keptPlace, linked, isLive };
  const shown = useRef(state);
  shown.current = state;

  const show = useCallback((window: RowWindow) => {
    remember(`rows ${window.key}`, window.rows.length > MOST_KEPT ? null : window);
    setState({ window, failure: null, isLoading: false });
  }, []);
  const fail = useCallback((error: unknown) => {
    setState((before) => ({ ...before, failure: toFailure(error), isLoading: false }));
  }, []);

  useLayoutEffect(() => {
    const own = new AbortController();
    controller.current = own;
    isGrowing.current = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const place = latest.current.keptPlace();
    // What is there is shown as it was left.
    const left = turn === 0 && place !== null ? known(key, place, null) : null;
    setState((before) => ({
      window: left ?? before.window,
      failure: null,
      isLoading: left === null || isLive,
    }));
    const load = async () => {
      const start = startOf(latest.current);
      try {
        if (!isLive || document.visibilityState === 'visible') {
          const page = await fetchAround(latest.current.body, start.id, own.signal);
          const now = shown.current.window;
          const isNewer = isLive && now !== null && now.key === key && now.prev === null;
          const isAtTop = latest.current.keptPlace()?.id === null;
          if (!own.signal.aborted)
            show(isNewer ? renew(now, page, { isAtTop }) : beginWindow(key, page, start));
        }
      } catch (error) {
        if (!own.signal.aborted) fail(error);
      }
      if (isLive && !own.signal.aborted) timer = setTimeout(load, LIVE_MS);
    };
    if (left === null || isLive) void load();
    return () => {
      own.abort();
      clearTimeout(timer);
    };
  }, [key, turn, isLive, show, fail]);

  const grow = useCallback(
    async (end: 'next' | 'prev') => {
      const { window, isLoading } = shown.current;
      const cursor = window?.[end] ?? null;
      // Rows of the list before are about to go.
      if (window === null || cursor === null || isLoading || isGrowing.current) return;
      const own = controller.current;
      const { signal } = own;
      isGrowing.current = true;
      try {
        const page = await fetchPage(
          latest.current.body,
          end === 'next' ? { after: cursor } : { before: cursor },
          signal,
        );
        const now = shown.current.window;
        // A live list may have begun anew meanwhile: what is behind its end is another page.
        if (!signal.aborted && now !== null && now[end] === cursor)
          show(end === 'next' ? append(now, page) : prepend(now, page));
      } catch (error) {
        if (!signal.aborted) fail(error);
      }
      // The next list has a page of its own under way.
      if (controller.current === own) isGrowing.current = false;
    },
    [show, fail],
  );
  return { ...state, grow, reload: useCallback(() => setTurn((before) => before + 1), []) };
}
