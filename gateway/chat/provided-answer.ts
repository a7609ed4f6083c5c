/** The provider's answer to a call. */
import type { Upstream } from '../providers/upstream.ts';
import type { Attempt } from './attempt.ts';
import type { Call } from './call.ts';
import type { Answering } from './relay.ts';
import { translatedAnswer } from './translated.ts';

/**
 * What calls the provider of an attempt.
 * @param headers flat list for the provider
 */
export function providedBy(
  call: Call,
  attempt: Attempt,
  headers: string[],
  send: Upstream['send'],
): Answering {
  const { route, path, translation, body } = attempt;
  const { label } = route.row;
  const created = Math.floor(call.createdAtMs / 1_000);
  return ({ onStart, onFailure }) => {
    const abort = send({
      label,
      origin: route.origin,
      path,
      headers,
      body,
      onStart:
        translation === null
          ? onStart
          : (answer) =>
              translatedAnswer(answer, { translation, label, created, onStart, abort: () => abort() }),
      onFailure,
    });
    return abort;
  };
}
