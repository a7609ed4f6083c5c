/** What a page shows of the API: loaded when its key changes, kept while the next one loads. */
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiFailure } from './call.ts';
import { recall, remember } from './recent.ts';

export type Resource<T> = {
  /** The newest answer, if need be of an earlier key; null: none has come. */
  data: T | null;
  /** The key that `data` belongs to. */
  dataKey: string | null;
  /** Why the newest load of the key failed; null after a success. */
  failure: ApiFailure | null;
  isLoading: boolean;
  reload: () => void;
};

type State<T> = Omit<Resource<T>, 'reload'>;

/** Returns any error as a failure to show. */
export function toFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ApiFailure(message, { status: 0, requestId: null, retryAfterS: null });
}

/**
 * Loads whenever `key` changes; the load before it is aborted, and with it its statement in Postgres. An answer of the same key
 * from shortly before is shown at once and loaded again.
 * @param key names all that the answer depends on; null: nothing is loaded
 * @param everyMs loads again so long after each answer, while the page is visible
 * @example const { data, failure } = useResource(`keys`, (signal) => call<KeyJson[]>('GET', '/v1/keys', undefined, signal));
 */
export function useResource<T>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<T>,
  { everyMs = null }: { everyMs?: number | null } = {},
): Resource<T> {
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<State<T>>(() => {
    const data = key === null ? null : recall<T>(key);
    return { data, dataKey: data === null ? null : key, failure: null, isLoading: key !== null };
  });
  const latestLoad = useRef(load);
  latestLoad.current = load;
  const lastKey = useRef<string | null>(null);

  // Before the paint, which the call need not wait for.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `turn` asks for another load of the same key
  useLayoutEffect(() => {
    const isSameKey = lastKey.current === key;
    lastKey.current = key;
    if (key === null) {
      setState({ data: null, dataKey: null, failure: null, isLoading: false });
      return;
    }
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const known = recall<T>(key);
    setState((before) =>
      known === null
        ? { ...before, failure: isSameKey ? before.failure : null, isLoading: true }
        : { data: known, dataKey: key, failure: null, isLoading: true },
    );
    const run = async () => {
      if (document.visibilityState === 'hidden' && everyMs !== null) {
        document.addEventListener('visibilitychange', run, { once: true, signal: controller.signal });
        return;
      }
      try {
        const data = await latestLoad.current(controller.signal);
        if (controller.signal.aborted) return;
        remember(key, data);
        setState({ data, dataKey: key, failure: null, isLoading: false });
      } catch (error) {
        if (controller.signal.aborted) return;
        setState((before) => ({ ...before, failure: toFailure(error), isLoading: false }));
      }
      if (everyMs !== null) timer = setTimeout(run, everyMs);
    };
    void run();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [key, turn, everyMs]);

  const reload = useCallback(() => setTurn((before) => before + 1), []);
  return { ...state, reload };
}
