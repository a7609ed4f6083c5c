/**
 * Calls of the first page, made before it is rendered: it is fetched, and who is logged in is asked, while the API answers them
 * already. The page's own call then takes the answer that is on its way.
 */

import { whenForgotten } from './recent.ts';

type Ahead = { answer: Promise<Response>; controller: AbortController };

const ahead = new Map<string, Ahead>();

const keyOf = (method: string, path: string, body: unknown) => JSON.stringify([method, path, body]);

/** Keeps a call that has been made ahead. */
export function keepAhead(
  [method, path, body]: readonly [string, string, unknown],
  run: (signal: AbortSignal) => Promise<Response>,
): void {
  const controller = new AbortController();
  const answer = run(controller.signal);
  // A failure of a call that nobody takes is of no interest.
  answer.catch(() => {});
  ahead.set(keyOf(method, path, body), { answer, controller });
}

/** Returns the answer of the same call, once; null: none was made ahead. An aborted signal ends it as it ends any call. */
export function takeAhead(
  [method, path, body]: readonly [string, string, unknown],
  signal: AbortSignal | undefined,
): Promise<Response> | null {
  const key = keyOf(method, path, body);
  const found = ahead.get(key);
  if (found === undefined) return null;
  ahead.delete(key);
  const abort = () => found.controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  return found.answer;
}

// Answers that were not taken belong to the log-in before.
whenForgotten(() => {
  for (const { controller } of ahead.values()) controller.abort();
  ahead.clear();
});
