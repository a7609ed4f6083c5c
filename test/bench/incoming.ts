/** Records that come in while a benchmark reads: ingest's own batches, from a process of its own. */
import { type Helper, startHelper } from './helper.ts';

/** A batch is committed. */
export type Committed = {
  /** Records so far. */
  stored: number;
  /** On `sharedClockMs`. */
  atMs: number;
};

/** Begins to store so many records of an organization a second; its result is how many it has stored a second. */
export function startIncoming(
  { url, organizationId, perSecond }: { url: string; organizationId: string; perSecond: number },
  onCommitted?: (committed: Committed) => void,
): Promise<Helper<number>> {
  const script = new URL('./incoming/process.ts', import.meta.url);
  return startHelper<number, Committed>(script, [url, organizationId, String(perSecond)], onCommitted);
}
