import { isObject, type JsonObject } from '../json/mod.ts';

/** Tokens of one call, as the provider counted them. `promptTokens` includes cached and cache-write tokens. */
export type Usage = {
  promptTokens: number;
  completionTokens: number;
  totalTokens: number;
  cachedTokens: number;
  inputAudioTokens: number;
  outputAudioTokens: number;
};

/** Larger counts cannot be real and would not fit the column. */
const MAX_TOKENS = 2_000_000_000;

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= MAX_TOKENS
    ? Math.trunc(value)
    : null;
}

function detail(usage: JsonObject, group: string, name: string): number {
  const details = usage[group];
  return isObject(details) ? (count(details[name]) ?? 0) : 0;
}

/**
 * Reads `usage` of an OpenAI-dialect answer: chat completions, completions, embeddings (no completion tokens).
 * DeepSeek's own names for cached tokens are understood too. Null when the provider gave none.
 */
export function readUsage(answer: JsonObject): Usage | null {
  const usage = answer.usage;
  if (!isObject(usage)) return null;
  const promptTokens = count(usage.prompt_tokens);
  if (promptTokens === null) return null;
  const completionTokens = count(usage.completion_tokens) ?? 0;
  return {
    promptTokens,
    completionTokens,
    totalTokens: count(usage.total_tokens) ?? promptTokens + completionTokens,
    cachedTokens:
      detail(usage, 'prompt_tokens_details', 'cached_tokens') || (count(usage.prompt_cache_hit_tokens) ?? 0),
    inputAudioTokens: detail(usage, 'prompt_tokens_details', 'audio_tokens'),
    outputAudioTokens: detail(usage, 'completion_tokens_details', 'audio_tokens'),
  };
}
