import { isObject, type JsonObject } from '#core/json/mod.ts';
import type { TokenUsage } from '../conversation.ts';
import { tierOf } from '../openai/usage.ts';

/** Reads the `usage` of a response, whose input includes the tokens read from and written to the cache; null when it has none. */
export function readResponseUsage(response: JsonObject): TokenUsage | null {
  const { usage } = response;
  if (!isObject(usage)) return null;
  const input = countOf(usage.input_tokens);
  const output = countOf(usage.output_tokens);
  if (input === null || output === null) return null;
  const cacheReadTokens = detail(usage.input_tokens_details, 'cached_tokens') ?? 0;
  const cacheWriteTokens = detail(usage.input_tokens_details, 'cache_write_tokens') ?? 0;
  return {
    inputTokens: Math.max(0, input - cacheReadTokens - cacheWriteTokens),
    cacheReadTokens,
    cacheWriteTokens,
    cacheWriteHourTokens: 0,
    outputTokens: output,
    reasoningTokens: detail(usage.output_tokens_details, 'reasoning_tokens'),
    service: tierOf(response),
  };
}

function countOf(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
}

function detail(details: unknown, name: string): number | null {
  return isObject(details) ? countOf(details[name]) : null;
}
