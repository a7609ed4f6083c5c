/** Anthropic's usage: tokens read from and written to the cache are counted beside the input, not in it. */
import { isObject, type JsonObject } from '#core/json/mod.ts';
import type { Service, TokenUsage } from '../conversation.ts';

const NO_USAGE: TokenUsage = {
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWriteHourTokens: 0,
  outputTokens: 0,
  reasoningTokens: null,
  service: {},
};

function countOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : otherwise;
}

/**
 * Reads `usage`. Counts of a stream are cumulative: each replaces the one of `before`, which stays where a count is missing
 * or null.
 */
export function readMessageUsage(value: unknown, before: TokenUsage | null = null): TokenUsage | null {
  if (!isObject(value)) return before;
  const known = before ?? NO_USAGE;
  const details = isObject(value.output_tokens_details) ? value.output_tokens_details : {};
  const written = isObject(value.cache_creation) ? value.cache_creation : {};
  return {
    inputTokens: countOr(value.input_tokens, known.inputTokens),
    cacheReadTokens: countOr(value.cache_read_input_tokens, known.cacheReadTokens),
    cacheWriteTokens: countOr(value.cache_creation_input_tokens, known.cacheWriteTokens),
    cacheWriteHourTokens: countOr(written.ephemeral_1h_input_tokens, known.cacheWriteHourTokens),
    outputTokens: countOr(value.output_tokens, known.outputTokens),
    reasoningTokens:
      typeof details.thinking_tokens === 'number' ? details.thinking_tokens : known.reasoningTokens,
    service: { ...known.service, ...serviceOf(value) },
  };
}

function serviceOf({ speed, inference_geo: geo }: JsonObject): Service {
  return {
    ...(typeof speed === 'string' ? { speed } : {}),
    ...(typeof geo === 'string' ? { inference_geo: geo } : {}),
  };
}

/** Writes `usage`; unknown counts are 0. */
export function writeMessageUsage(usage: TokenUsage | null): JsonObject {
  const known = usage ?? NO_USAGE;
  return {
    input_tokens: known.inputTokens,
    cache_creation_input_tokens: known.cacheWriteTokens,
    cache_read_input_tokens: known.cacheReadTokens,
    output_tokens: known.outputTokens,
    ...(known.reasoningTokens === null
      ? {}
      : { output_tokens_details: { thinking_tokens: known.reasoningTokens } }),
    ...known.service,
  };
}
