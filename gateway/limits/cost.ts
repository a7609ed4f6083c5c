/** What a call will probably cost, and what it did cost, for policies that count money. */
import { LRUCache } from 'lru-cache';
import { readUsage, textUsage } from '#core/chat/mod.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { textOrNull } from '#core/json/mod.ts';
import type { Catalog } from '#core/models/mod.ts';
import type { Call } from '../request/call.ts';
import type { CallResult } from '../request/record.ts';
import { scanUsage } from './scan-usage.ts';

/**
 * Bytes of a request body per input token, of English text and JSON; the error is corrected when the call is
 * settled. Of a model that has not responded here nothing is known, and no text has more tokens than bytes: a first
 * estimate so high is never below what the text costs.
 */
const BYTES_PER_TOKEN = { usual: 4, least: 1 };
/** Assumed until a model has responded here. */
const USUAL_COMPLETION_TOKENS = 500;
/** The share of the newest response in the average length of a model's completions. */
const NEWEST_SHARE = 0.1;
const MODELS_KEPT = 1_000;

export type Costs = {
  /**
   * Estimates the cost, in nano-dollars: that of the dearest of the call's candidates.
   * @throws AssayError invalid_rate_limit_policy when one of their models has no known price: such a call cannot be held
   *   to a limit in money
   */
  estimate(call: Call): number;
  /** Returns the cost in nano-dollars; null when the response does not tell: it broke off, or has no usage. */
  actual(call: Call, result: CallResult): number | null;
};

/** Learns from the responses it sees how long a model's completions are on average. */
export function createCosts(catalog: Pick<Catalog, 'costOf'>): Costs {
  const usual = new LRUCache<string, number>({ max: MODELS_KEPT });
  return {
    estimate: ({ body, createdAtMs, endpoint, candidates }) => {
      if (endpoint.isFree) return 0;
      let dearest = 0;
      for (const { provider, model } of candidates) {
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
    actual: ({ createdAtMs, endpoint }, { outcome, candidate }) => {
      if (endpoint.isFree) return 0;
      // A call that its provider refused, or that never reached it, bought nothing. A client that disconnected, and a
      // stream that failed midway and has the error's status, still pay for what was generated.
      if (outcome.status >= 400 && outcome.status !== 499 && !outcome.stream) return 0;
      const found = scanUsage(outcome);
      const usage = found === null ? null : readUsage(found);
      if (found === null || usage === null) return null;
      const before = usual.get(candidate.model) ?? usage.completionTokens;
      usual.set(candidate.model, before + NEWEST_SHARE * (usage.completionTokens - before));
      const models = [textOrNull(found.model), candidate.model];
      return catalog.costOf({ provider: candidate.provider, models, usage, atMs: createdAtMs })?.nano ?? null;
    },
  };
}

function unpriced(provider: string, model: string): AssayError {
  return new AssayError(
    'invalid_rate_limit_policy',
    `The rate-limit policy counts cents, but the model '${model}' of ${provider} has no known price`,
  );
}
