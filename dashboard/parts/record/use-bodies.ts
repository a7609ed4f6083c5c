/** The bodies of the record that a page shows. */
import { useEffect, useMemo } from 'preact/hooks';
import type { BodyReader } from './body-methods.ts';
import { bodiesOf } from './open-record.ts';

/** Bodies to ask about. */
export type BodySource = {
  /** Names them among all others. */
  id: string;
  ask: BodyReader;
};

/**
 * Returns a record's bodies. Questions end when another record is shown.
 * @param page as `bodiesOf` takes it
 */
export function useBodies(requestId: string, page: string | null = null): BodySource {
  const [source, controller] = useMemo(() => {
    const controller = new AbortController();
    return [
      {
        id: page === null ? requestId : `${page} ${requestId}`,
        ask: bodiesOf(requestId, controller.signal, page),
      },
      controller,
    ] as const;
  }, [requestId, page]);
  useEffect(() => () => controller.abort(), [controller]);
  return source;
}
