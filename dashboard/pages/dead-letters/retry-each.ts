/** Retries of many letters, one after the other. */
import type { DeadLetterPage, RetriedJson } from '#core/contracts/dead-letter.ts';
import { call } from '../../client/call.ts';
import { toFailure } from '../../client/resource.ts';

export type Progress = { stored: number; refused: number };

const PATH = '/v1/dead-letter';
const NOT_FOUND = 404;

/**
 * Retries each letter that has the reason, or of any ('') reason, the newest first, and tells the numbers after each. One that another has retried or
 * dropped meanwhile is passed over.
 * @throws ApiFailure, AbortError
 */
export async function retryEach(
  reason: string,
  tellProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<void> {
  const progress = { stored: 0, refused: 0 };
  let after: string | null = null;
  do {
    const query: URLSearchParams = new URLSearchParams({
      ...(reason !== '' && { reason }),
      ...(after !== null && { after }),
    });
    const page: DeadLetterPage = await call('GET', `${PATH}?${query}`, undefined, signal);
    for (const { id } of page.letters) {
      try {
        const { outcome } = await call<RetriedJson>('POST', `${PATH}/${id}/retry`, undefined, signal);
        progress[outcome]++;
      } catch (error) {
        if (signal.aborted || toFailure(error).status !== NOT_FOUND) throw error;
      }
      tellProgress({ ...progress });
    }
    after = page.next;
  } while (after !== null);
}
