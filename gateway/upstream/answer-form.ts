/** How an answer comes, by its headers. */
import type { ProviderAnswer } from './exchange.ts';

/** Whether an answer is a stream of events. */
export function isEventStream(answer: ProviderAnswer): boolean {
  const isSuccess = answer.status >= 200 && answer.status < 300;
  return isSuccess && /^text\/event-stream\b/i.test(answer.headers['content-type'] ?? '');
}

/** The content-encoding; null: as it is. */
export function encodingOf(answer: ProviderAnswer): string | null {
  const encoding = answer.headers['content-encoding'];
  return encoding === undefined || encoding === 'identity' ? null : encoding;
}
