/** OpenAI's usage: the prompt's tokens include those read from and written to the cache. */
import { readUsage, toldCostNano } from '#core/chat/mod.ts';
import { nanoToUsd } from '#core/contracts/money.ts';
import { isObject, type JsonObject } from '#core/json/mod.ts';
import type { Service, TokenUsage } from '../conversation.ts';

/** Writes the `usage` of a completion or a chunk. */
export function writeCompletionUsage(usage: TokenUsage): JsonObject {
  const {
    inputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    cacheWriteHourTokens,
    outputTokens,
    reasoningTokens,
    service,
  } = usage;
  const promptTokens = inputTokens + cacheReadTokens + cacheWriteTokens;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: outputTokens,
    total_tokens: promptTokens + outputTokens,
    prompt_tokens_details: {
      cached_tokens: cacheReadTokens,
      cache_write_tokens: cacheWriteTokens,
      // A name of ours, as OpenAI has none: the record's cost depends on it.
      ...(cacheWriteHourTokens === 0 ? {} : { cache_write_1h_tokens: cacheWriteHourTokens }),
    },
    ...(reasoningTokens === null ? {} : { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
    ...service,
  };
}

/** Reads the `usage` of a completion or a chunk; null when it has none. */
export function readCompletionUsage(completion: JsonObject): TokenUsage | null {
  const usage = readUsage(completion);
  if (usage === null) return null;
  const cacheWriteTokens = detail(completion.usage, 'prompt_tokens_details', 'cache_write_tokens') ?? 0;
  return {
    inputTokens: Math.max(0, usage.promptTokens - usage.cachedTokens - cacheWriteTokens),
    cacheReadTokens: usage.cachedTokens,
    cacheWriteTokens,
    cacheWriteHourTokens: 0,
    outputTokens: usage.completionTokens,
    reasoningTokens: detail(completion.usage, 'completion_tokens_details', 'reasoning_tokens'),
    service: { ...tierOf(completion), ...costOf(completion.usage as JsonObject) },
  };
}

/** The tiers of OpenAI's that have prices of their own. */
const TIERS: ReadonlySet<unknown> = new Set(['flex', 'priority']);

/** Returns the tier in which an answer of OpenAI's was made, a completion, a chunk or a response. */
export function tierOf({ service_tier: tier }: JsonObject): Service {
  return TIERS.has(tier) ? { openai_service_tier: tier as string } : {};
}

function costOf(usage: JsonObject): Service {
  const nano = toldCostNano(usage);
  return nano === null ? {} : { cost: nanoToUsd(String(nano)) };
}

/** Returns a count of a group of details in a usage; null: it has none. */
export function detail(usage: unknown, group: string, name: string): number | null {
  const details = isObject(usage) ? usage[group] : null;
  const value = isObject(details) ? details[name] : null;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
