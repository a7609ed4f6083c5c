/** What a call will probably cost, and what it did cost, for policies that count money. */
import { LRUCache } from 'lru-cache';
import type { Catalog } from '#core/catalog/mod.ts';
import { readUsage, textUsage } from '#core/chat/mod.ts';
import { AssayError } from '#core/errors.ts';
import { isObject } from '#core/json/mod.ts';
import type { Call, Outcome } from '../calls/call.ts';
import { completionOf } from '../calls/completion-of.ts';

/** Of English text and JSON; what it is off by is corrected when the call is settled. */
const BYTES_PER_TOKEN = 4;
/** Until a model has answered here. */
const USUAL_COMPLETION_TOKENS = 500;
/** How much the newest answer counts for in what is usual. */
const NEWEST_SHARE = 0.1;
const MODELS_KEPT = 1_000;

export type Costs = {
  /**
   * Nano-dollars.
   * @throws AssayError invalid_rate_limit_policy when the model has no known price: such a call cannot be held to a
   *   limit in money
   */
  estimate(call: Call): number;
  /** Nano-dollars; null when the answer does not tell: it broke off, or has no usage. */
  actual(call: Call, outcome: Outcome): number | null;
};

/** Learns from the answers it sees how long they usually are. */
export function createCosts(catalog: Pick<Catalog, 'costOf'>): Costs {
  const usual = new LRUCache<string, number>({ max: MODELS_KEPT });
  return {
    estimate: ({ route, body, createdAtMs, surface }) => {
      if (surface.isFree) return 0;
      const completionTokens = body.maxTokens ?? usual.get(route.model) ?? USUAL_COMPLETION_TOKENS;
      const cost = catalog.costOf({
        provider: route.provider,
        models: [route.model],
        usage: textUsage(Math.ceil(body.bytes.length / BYTES_PER_TOKEN), Math.ceil(completionTokens)),
        atMs: createdAtMs,
      });
      if (cost !== null) return cost.nano;
      throw new AssayError(
        'invalid_rate_limit_policy',
        `The rate-limit policy counts cents, but the model '${route.model}' of ${route.provider} has no known price`,
      );
    },
    actual: ({ route, createdAtMs, surface }, outcome) => {
      if (surface.isFree) return 0;
      // Refused by the provider, or never reached: nothing was bought. Who left has bought what had come, and so has a
      // stream that told of an error in its middle, whose status that is.
      if (outcome.status >= 400 && outcome.status !== 499 && !outcome.stream) return 0;
      const completion = completionOf(outcome);
      const usage = isObject(completion) ? readUsage(completion) : null;
      if (usage === null) return null;
      const before = usual.get(route.model) ?? usage.completionTokens;
      usual.set(route.model, before + NEWEST_SHARE * (usage.completionTokens - before));
      const { model } = completion as { model?: unknown };
      const models = [typeof model === 'string' ? model : null, route.model];
      return catalog.costOf({ provider: route.provider, models, usage, atMs: createdAtMs })?.nano ?? null;
    },
  };
}
