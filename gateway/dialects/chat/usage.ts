import { toldCostNano } from '#core/chat/mod.ts';
import { nanoToUsd } from '#core/contracts/money.ts';
import type { JsonObject } from '#core/json/mod.ts';
import type { Service, TokenUsage } from '../conversation.ts';
import { readOpenAiUsage } from '../openai-usage.ts';

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
  const usage = readOpenAiUsage(completion, {
    prompt: 'prompt_tokens_details',
    completion: 'completion_tokens_details',
  });
  return usage && { ...usage, service: { ...usage.service, ...costOf(completion.usage as JsonObject) } };
}

function costOf(usage: JsonObject): Service {
  const nano = toldCostNano(usage);
  return nano === null ? {} : { cost: nanoToUsd(String(nano)) };
}
