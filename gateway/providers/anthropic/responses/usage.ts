import { readUsage } from '#core/chat/mod.ts';
import { AssayError } from '#core/contracts/errors.ts';
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

/**
 * Reads the answer of OpenAI's count of a call's input.
 * @throws AssayError provider_bad_answer
 */
export function readInputTokens({ input_tokens: tokens }: JsonObject): number {
  if (Number.isSafeInteger(tokens) && (tokens as number) >= 0) return tokens as number;
  throw new AssayError(
    'provider_bad_answer',
    'The provider answered with something that is not a count of tokens',
  );
}
