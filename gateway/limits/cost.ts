/** The estimated and the actual cost of a call, for policies that count money. */
import { LRUCache } from 'lru-cache';
import { readUsage, textUsage } from '#core/chat/mod.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { textOrNull } from '#core/json/mod.ts';
import type { Catalog } from '#core/models/mod.ts';
import type { Call } from '../request/call.ts';
import type { CallResult } from '../request/record.ts';
import { mediaIn } from './media.ts';
import { scanUsage } from './scan-usage.ts';

/**
 * Bytes of a request body per input token. `typical` is for English text and JSON; its error is corrected when the call is
 * settled. `least` is for a model that has not responded here yet: no text has more tokens than bytes, so that the first
 * estimate is never below the cost of the text.
 */
const BYTES_PER_TOKEN = { typical: 4, least: 1 };
/**
 * Tokens of an image, a recording or a file: a large image has some 3,000, a page of a PDF as many in 100 KB, and a minute of
 * audio 600 in as much.
 */
const MEDIA_TOKENS = { each: 3_000, bytesPerToken: 32 };
/** Length of a completion, assumed until a model has responded here. */
const DEFAULT_COMPLETION_TOKENS = 500;
/** The weight of the newest response in the average length of a model's completions. */
const NEWEST_SHARE = 0.1;
const MODELS_KEPT = 1_000;
/** Characters of a model's name that a price is looked for. A provider may send megabytes. */
const LONGEST_MODEL = 256;

export type Costs = {
  /**
   * Estimates the cost in nano-dollars, of the call's most expensive candidate.
   * @throws AssayError invalid_rate_limit_policy when the model of a candidate has no known price: a policy in money cannot
   *   limit such a call
   */
  estimate(call: Call): number;
  /** Returns the cost in nano-dollars; null when it is unknown: the response broke off, or has no usage. */
  actual(call: Call, result: CallResult): number | null;
};

/** Makes the costs. They learn the average length of each model's completions from its responses. */
export function createCosts(catalog: Pick<Catalog, 'costOf'>): Costs {
  const averageCompletions = new LRUCache<string, number>({ max: MODELS_KEPT });
  return {
    estimate: ({ body, createdAtMs, endpoint, candidates }) => {
      if (endpoint.isFree) return 0;
      let highest = 0;
      const media = mediaIn(body.bytes);
      const mediaTokens = media.count * MEDIA_TOKENS.each + media.bytes / MEDIA_TOKENS.bytesPerToken;
      for (const { provider, model } of candidates) {
        const average = averageCompletions.get(model);
        const bytesPerToken = average === undefined ? BYTES_PER_TOKEN.least : BYTES_PER_TOKEN.typical;
        const promptTokens = Math.ceil((body.bytes.length - media.bytes) / bytesPerToken + mediaTokens);
        const completionTokens = body.maxTokens ?? average ?? DEFAULT_COMPLETION_TOKENS;
        const usage = textUsage(promptTokens, Math.ceil(completionTokens));
        const cost = catalog.costOf({ provider, models: [model], usage, atMs: createdAtMs });
        if (cost === null) throw unpriced(provider, model);
        highest = Math.max(highest, cost.nano);
      }
      return highest;
    },
    actual: ({ createdAtMs, endpoint }, { outcome, candidate, cachedFrom }) => {
      if (endpoint.isFree || cachedFrom !== null) return 0;
      // A call that its provider refused, or that never reached it, costs nothing. A client that disconnected, and a stream
      // that failed midway and has the error's status, still pay for the tokens that were generated.
      if (outcome.status >= 400 && outcome.status !== 499 && !outcome.stream) return 0;
      const found = scanUsage(outcome);
      const usage = found === null ? null : readUsage(found);
      if (found === null || usage === null) return null;
      const before = averageCompletions.get(candidate.model) ?? usage.completionTokens;
      const average = before + NEWEST_SHARE * (usage.completionTokens - before);
      averageCompletions.set(candidate.model, average);
      const answered = textOrNull(found.model);
      const models = [
        answered !== null && answered.length <= LONGEST_MODEL ? answered : null,
        candidate.model,
      ];
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
