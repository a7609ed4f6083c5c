import { readUsage } from '#core/chat/mod.ts';
import type { JsonObject } from '#core/json/mod.ts';
import type { TokenUsage } from '../conversation.ts';
import { detail, tierOf } from '../openai/usage.ts';

/** Reads the `usage` of a response, whose input includes the tokens read from and written to the cache; null when it has none. */
export function readResponseUsage(response: JsonObject): TokenUsage | null {
  const usage = readUsage(response);
  if (usage === null) return null;
  const cacheWriteTokens = detail(response.usage, 'input_tokens_details', 'cache_write_tokens') ?? 0;
  return {
    inputTokens: Math.max(0, usage.promptTokens - usage.cachedTokens - cacheWriteTokens),
    cacheReadTokens: usage.cachedTokens,
    cacheWriteTokens,
    cacheWriteHourTokens: 0,
    outputTokens: usage.completionTokens,
    reasoningTokens: detail(response.usage, 'output_tokens_details', 'reasoning_tokens'),
    service: tierOf(response),
  };
}
