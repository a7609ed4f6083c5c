/** What a call will probably cost, and what it did cost, for policies that count money. */
import { LRUCache } from 'lru-cache';
import { readUsage, textUsage } from '#core/chat/mod.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { textOrNull } from '#core/json/mod.ts';
import type { Catalog } from '#core/models/mod.ts';
import type { Candidate } from '../providers/resolve.ts';
import type { Call, Outcome } from '../request/call.ts';
import { scanUsage } from './scan-usage.ts';

/**
 * Bytes of a request body per input token, of English text and JSON; what it is off by is corrected when the call is
 * settled. Of a model that has not answered here nothing is known, and no text has more tokens than bytes: a first
 * estimate so high is never below what the text costs.
 */
const BYTES_PER_TOKEN = { usual: 4, least: 1 };
/** Until a model has answered here. */
const USUAL_COMPLETION_TOKENS = 500;
/** How much the newest answer counts for in what is usual. */
const NEWEST_SHARE = 0.1;
const MODELS_KEPT = 1_000;

export type Costs = {
  /**
   * Nano-dollars, of the dearest of the routes that the call may be answered at.
   * @throws AssayError invalid_rate_limit_policy when one of their models has no known price: such a call cannot be held
   *   to a limit in money
   */
  estimate(call: Call, routes: readonly Candidate[]): number;
  /** Nano-dollars; null when the answer does not tell: it broke off, or has no usage. */
  actual(call: Call, outcome: Outcome): number | null;
};

/** Learns from the answers it sees how long they usually are. */
export function createCosts(catalog: Pick<Catalog, 'costOf'>): Costs {
  const usual = new LRUCache<string, number>({ max: MODELS_KEPT });
  return {
    estimate: ({ body, createdAtMs, surface }, routes) => {
      if (surface.isFree) return 0;
      let dearest = 0;
      for (const { provider, model } of routes) {
        const usualTokens = usual.get(model);
        const bytesPerToken = usualTokens === undefined ? BYTES_PER_TOKEN.least : BYTES_PER_TOKEN.usual;
        const promptTokens = Math.ceil(body.bytes.length / bytesPerToken);
        const completionTokens = body.maxTokens ?? usualTokens ?? USUAL_COMPLETION_TOKENS;
        const usage = textUsage(promptTokens, Math.ceil(completionTokens));
        const cost = catalog.costOf({ provider, models: [model], usage, atMs: createdAtMs });
        if (cost === null) throw unpriced(provider, model);
        dearest = Math.max(dearest, cost.nano);
      }
      return dearest;
    },
    actual: ({ route, createdAtMs, surface }, outcome) => {
      if (surface.isFree) return 0;
      // Refused by the provider, or never reached: nothing was bought. Who left has bought what had come, and so has a
      // stream that told of an error in its middle, whose status that is.
      if (outcome.status >= 400 && outcome.status !== 499 && !outcome.stream) return 0;
      const bill = scanUsage(outcome);
      const usage = bill === null ? null : readUsage(bill);
      if (bill === null || usage === null) return null;
      const before = usual.get(route.model) ?? usage.completionTokens;
      usual.set(route.model, before + NEWEST_SHARE * (usage.completionTokens - before));
      const models = [textOrNull(bill.model), route.model];
      return catalog.costOf({ provider: route.provider, models, usage, atMs: createdAtMs })?.nano ?? null;
    },
  };
}

function unpriced(provider: string, model: string): AssayError {
  return new AssayError(
    'invalid_rate_limit_policy',
    `The rate-limit policy counts cents, but the model '${model}' of ${provider} has no known price`,
  );
}
