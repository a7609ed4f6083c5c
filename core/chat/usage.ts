import { isObject, type JsonObject } from '../json/mod.ts';

/**
 * Tokens of one call, as the provider counted them. `promptTokens` includes cached and cache-write tokens,
 * `completionTokens` includes reasoning.
 */
export type Usage = {
  promptTokens: number;
  completionTokens: number;
  totalTokens: number;
  /** Read from a provider's cache. */
  cachedTokens: number;
  /** Written into it, for whatever time. */
  cacheWriteTokens: number;
  /** Of these, what is kept for an hour, which costs more. */
  cacheWriteHourTokens: number;
  reasoningTokens: number;
  inputAudioTokens: number;
  outputAudioTokens: number;
};

/** The usage of a call that was text in and text out, without caches. */
export function textUsage(promptTokens: number, completionTokens: number): Usage {
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    cacheWriteHourTokens: 0,
    reasoningTokens: 0,
    inputAudioTokens: 0,
    outputAudioTokens: 0,
  };
}

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
 * Reads `usage` of an answer in any of the dialects: chat completions, completions, embeddings (no completion tokens),
 * Responses, Messages. DeepSeek's own names for cached tokens are understood too. Null when the provider gave none, or
 * nothing but zeros, which Gemini says of embeddings: it does not count those; or when a translated stream broke off
 * before anything but the prompt was counted.
 */
export function readUsage(answer: JsonObject): Usage | null {
  return isBegun(answer) ? null : readCounts(answer);
}

/** What was counted before an answer broke off, where `readUsage` takes that for no usage: its prompt; null: nothing. */
export function readBegunUsage(answer: JsonObject): Usage | null {
  return isBegun(answer) ? readCounts(answer) : null;
}

function readCounts(answer: JsonObject): Usage | null {
  const { usage } = answer;
  if (!isObject(usage)) return null;
  const read =
    count(usage.prompt_tokens) === null ? readInputUsage(usage) : readPromptUsage(usage, answer.model);
  const isCounted = read !== null && Object.values(read).some((tokens) => tokens > 0);
  return isCounted ? withinBounds(read) : null;
}

/** Whether there is a prompt's count and no other, as the log keeps it from the beginning of a translated stream. */
function isBegun({ choices, usage }: JsonObject): boolean {
  if (!Array.isArray(choices) || !isObject(usage) || count(usage.prompt_tokens) === null) return false;
  return usage.completion_tokens === undefined && usage.total_tokens === undefined;
}

/** Of counts that are each possible, the sum may not be. */
function withinBounds(usage: Usage): Usage {
  return {
    ...usage,
    promptTokens: Math.min(MAX_TOKENS, usage.promptTokens),
    completionTokens: Math.min(MAX_TOKENS, usage.completionTokens),
    totalTokens: Math.min(MAX_TOKENS, usage.totalTokens),
  };
}

/** `prompt_tokens` and `completion_tokens`. */
function readPromptUsage(usage: JsonObject, model: unknown): Usage {
  const cachedTokens =
    detail(usage, 'prompt_tokens_details', 'cached_tokens') || (count(usage.prompt_cache_hit_tokens) ?? 0);
  const sides = readSides(usage, cachedTokens, model);
  return {
    ...sides,
    totalTokens: count(usage.total_tokens) ?? sides.promptTokens + sides.completionTokens,
    cachedTokens,
    cacheWriteTokens: detail(usage, 'prompt_tokens_details', 'cache_write_tokens'),
    cacheWriteHourTokens: 0,
    inputAudioTokens: detail(usage, 'prompt_tokens_details', 'audio_tokens'),
    outputAudioTokens: detail(usage, 'completion_tokens_details', 'audio_tokens'),
  };
}

/**
 * What went in and what came out. Some providers leave tokens out of both counts, and only their total tells: those are
 * put where it is known what they are. A gap that nothing explains is left as it is: of some proxies it is what was read
 * from a cache (https://github.com/Portkey-AI/gateway/pull/1211), whose price is a fraction of that of output.
 */
function readSides(
  usage: JsonObject,
  cachedTokens: number,
  model: unknown,
): Pick<Usage, 'promptTokens' | 'completionTokens' | 'reasoningTokens'> {
  const promptTokens = count(usage.prompt_tokens) ?? 0;
  const completionTokens = count(usage.completion_tokens) ?? 0;
  const reasoningTokens = detail(usage, 'completion_tokens_details', 'reasoning_tokens');
  const gap = (count(usage.total_tokens) ?? 0) - promptTokens - completionTokens;
  // No prompt has less than was cached of it: for some of xAI's models that is beside it.
  const isCachedApart =
    cachedTokens > promptTokens && (gap === cachedTokens || gap === cachedTokens + reasoningTokens);
  const cachedApart = isCachedApart ? cachedTokens : 0;
  const thoughts = thoughtsIn(gap - cachedApart, usage, reasoningTokens, model);
  return {
    promptTokens: promptTokens + cachedApart,
    completionTokens: completionTokens + thoughts,
    reasoningTokens: Math.max(reasoningTokens, thoughts),
  };
}

/** How many tokens of reasoning the completion tokens leave out. */
function thoughtsIn(gap: number, usage: JsonObject, reasoningTokens: number, model: unknown): number {
  if (gap <= 0) return 0;
  // xAI counts the visible text alone, and says how much reasoning came on top.
  if (gap === reasoningTokens) return gap;
  // Gemini counts so too, and does not say. Its usage looks like anyone's, but the answer names its model, also behind
  // proxies, which hand these counts on. Embeddings have no completion tokens, and no thoughts.
  const isGemini = typeof model === 'string' && /gemini/i.test(model) && 'completion_tokens' in usage;
  return isGemini && reasoningTokens === 0 ? gap : 0;
}

/** `input_tokens` and `output_tokens`: of Responses, which include what was cached, or of Messages, which do not. */
function readInputUsage(usage: JsonObject): Usage | null {
  if (count(usage.input_tokens) === null) return null;
  const apart = compactionsOf(usage);
  const sum = (name: string) =>
    [usage, ...apart].reduce((tokens, part) => tokens + (count(part[name]) ?? 0), 0);
  const read = sum('cache_read_input_tokens');
  const written = sum('cache_creation_input_tokens');
  const promptTokens = sum('input_tokens') + read + written;
  const completionTokens = sum('output_tokens');
  return {
    ...textUsage(promptTokens, completionTokens),
    totalTokens: count(usage.total_tokens) ?? promptTokens + completionTokens,
    cachedTokens: read || detail(usage, 'input_tokens_details', 'cached_tokens'),
    cacheWriteTokens: written || detail(usage, 'input_tokens_details', 'cache_write_tokens'),
    // A stream may correct what was written without telling for what time again.
    cacheWriteHourTokens: Math.min(written, detail(usage, 'cache_creation', 'ephemeral_1h_input_tokens')),
    reasoningTokens:
      detail(usage, 'output_tokens_details', 'reasoning_tokens') ||
      detail(usage, 'output_tokens_details', 'thinking_tokens'),
  };
}

/**
 * What a Messages answer cost that its own counts leave out: the conversation was put into a shorter form first, by the
 * same model. https://platform.claude.com/docs/en/build-with-claude/compaction
 */
function compactionsOf({ iterations }: JsonObject): JsonObject[] {
  if (!Array.isArray(iterations)) return [];
  return iterations.filter((part) => isObject(part)).filter(({ type }) => type === 'compaction');
}
