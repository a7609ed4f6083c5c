/** How an answer comes, by its headers. */
import { optionsOf } from '../http-server/mod.ts';
import type { ProviderAnswer } from './exchange.ts';

/** Successes that have no body by their definition (RFC 9110, sections 15.3.5 and 15.3.6). */
export function isWithoutContent(status: number): boolean {
  return status === 204 || status === 205;
}

/** Whether an answer is a stream of events. */
export function isEventStream({ status, headers }: ProviderAnswer): boolean {
  const isSuccess = status >= 200 && status < 300 && !isWithoutContent(status);
  return isSuccess && /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}

/** The content-encoding in lower case, several in the order they were applied in; null: as it is. */
export function encodingOf({ headers }: ProviderAnswer): string | null {
  const header = headers['content-encoding'];
  if (header === undefined) return null;
  const codings = optionsOf(header).filter((coding) => coding !== '' && coding !== 'identity');
  return codings.length === 0 ? null : codings.join(', ');
}
