import { LRUCache } from 'lru-cache';
import type { Logger } from '#platform/observability/log.ts';
import type { UnpricedCall } from './store-batch.ts';

/** Names come from callers: one who makes them up must neither fill the memory nor, for long, the log. */
const MODELS_KEPT = 1_000;

/** Makes what tells the operator of models without a known price: one line for each, whatever is called with it. */
export function createUnpricedReport(log: Logger): (calls: readonly UnpricedCall[]) => void {
  const told = new LRUCache<string, true>({ max: MODELS_KEPT });
  return (calls) => {
    for (const { provider, model } of calls) {
      const key = `${provider} ${model}`;
      if (told.has(key)) continue;
      told.set(key, true);
      log.warn(
        { provider, model },
        'no price is known for this model: its calls have no cost; MODELS_FILE can set one',
      );
    }
  };
}
