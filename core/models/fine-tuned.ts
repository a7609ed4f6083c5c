/** Prices of OpenAI's fine-tuned models, which cost more than their base models. */
import { type PricedCall, priceNames } from './price.ts';
import { costOfTokens, type TokenPrice, toPico } from './token-price.ts';

/** Stored with the cost of such a call. */
export const FINE_TUNED_SOURCE = 'openai-fine-tuned@2026-11-22';

/** Begins the id of a fine-tuned model: `ft:<base model>:<organization>:<suffix>:<id>`. */
const FINE_TUNED = 'ft:';

/**
 * USD for a million tokens by the base model, without the date of its snapshot: input, cached input (null: as input),
 * output. Source: the fine-tuning part of OpenAI's price list as LiteLLM's price map repeats it, read on 2026-11-22.
 * The registry has some of these under dated ids alone, and without the price of cached input.
 */
const PRICES: Readonly<Record<string, readonly [input: number, cached: number | null, output: number]>> = {
  'gpt-4.1': [3, 0.75, 12],
  'gpt-4.1-mini': [0.8, 0.2, 3.2],
  'gpt-4.1-nano': [0.2, 0.05, 0.8],
  'gpt-4o': [3.75, 1.875, 15],
  'gpt-4o-mini': [0.3, 0.15, 1.2],
  'gpt-4': [30, null, 60],
  'gpt-3.5-turbo': [3, null, 6],
  'o4-mini': [4, 1, 16],
  'davinci-002': [12, null, 12],
  'babbage-002': [1.6, null, 1.6],
};

/** `-2024-07-18`, or as older models have it `-0125`. */
const SNAPSHOT_DATE = /-(?:\d{4}-\d{2}-\d{2}|\d{4})$/;

/** Returns whether an id is that of a fine-tuned model. */
export function isFineTuned(model: string): boolean {
  return model.startsWith(FINE_TUNED);
}

/** Returns the cost of a call of a fine-tuned model in whole nano-dollars; null for other models and unknown bases. */
export function priceFineTunedCall(call: PricedCall): number | null {
  if (call.provider !== 'openai') return null;
  for (const name of priceNames(call)) {
    const price = isFineTuned(name) ? fineTunedPrice(name) : null;
    if (price !== null) return costOfTokens(price, call.usage);
  }
  return null;
}

function fineTunedPrice(model: string): TokenPrice | null {
  const [, base = ''] = model.split(':');
  const name = base.replace(SNAPSHOT_DATE, '');
  const price = Object.hasOwn(PRICES, name) ? PRICES[name] : undefined;
  if (price === undefined) return null;
  const [input, cached, output] = price;
  return {
    input: toPico(input)!,
    cacheRead: cached === null ? null : toPico(cached)!,
    cacheWrite: null,
    cacheWriteHour: null,
    output: toPico(output)!,
    reasoning: null,
    webSearch: null,
  };
}
