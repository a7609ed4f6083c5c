import { LRUCache } from 'lru-cache';
import type { Logger } from '#platform/observability/log.ts';
import type { UnpricedCall } from './store-batch.ts';

/** Names come from clients: one that invents names must neither fill the memory nor, for long, the log. */
const MODELS_KEPT = 1_000;

/** Makes the report of models without a known price: one log line for each model, however often it is called. */
export function createUnpricedReport(log: Logger): (calls: readonly UnpricedCall[]) => void {
  const reported = new LRUCache<string, true>({ max: MODELS_KEPT });
  return (calls) => {
    for (const { provider, model } of calls) {
      const key = `${provider} ${model}`;
      if (reported.has(key)) continue;
      reported.set(key, true);
      log.warn(
        { provider, model },
        'no price is known for this model: its calls have no cost; MODELS_FILE can set one',
      );
    }
  };
}
