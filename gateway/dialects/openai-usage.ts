/** Usage, as chat completions and Responses tell it: the prompt's tokens include those read from and written to the cache. */
import { readUsage } from '#core/chat/mod.ts';
import { isObject, type JsonObject } from '#core/json/mod.ts';
import type { Service, TokenUsage } from './conversation.ts';

/**
 * Reads the `usage` of an answer or a chunk; null when it has none.
 * @param details the members of `usage` that divide its counts of the prompt and of the completion
 */
export function readOpenAiUsage(
  answer: JsonObject,
  details: { prompt: string; completion: string },
): TokenUsage | null {
  const usage = readUsage(answer);
  if (usage === null) return null;
  const cacheWriteTokens = countIn(answer.usage, details.prompt, 'cache_write_tokens') ?? 0;
  return {
    inputTokens: Math.max(0, usage.promptTokens - usage.cachedTokens - cacheWriteTokens),
    cacheReadTokens: usage.cachedTokens,
    cacheWriteTokens,
    cacheWriteHourTokens: 0,
    outputTokens: usage.completionTokens,
    reasoningTokens: countIn(answer.usage, details.completion, 'reasoning_tokens'),
    service: tierOf(answer),
  };
}

/** OpenAI's tiers that have prices of their own. */
const TIERS: ReadonlySet<unknown> = new Set(['flex', 'priority']);

function tierOf({ service_tier: tier }: JsonObject): Service {
  return TIERS.has(tier) ? { openai_service_tier: tier as string } : {};
}

/** Returns a count of a group of details in a usage; null: it has none. */
function countIn(usage: unknown, group: string, name: string): number | null {
  const details = isObject(usage) ? usage[group] : null;
  const value = isObject(details) ? details[name] : null;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
