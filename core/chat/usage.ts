import { isObject, type JsonObject } from '../json-values/mod.ts';

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
  /** Written into a provider's cache, for any time. */
  cacheWriteTokens: number;
  /** The part of `cacheWriteTokens` that is kept for an hour, which costs more. */
  cacheWriteHourTokens: number;
  reasoningTokens: number;
  inputAudioTokens: number;
  outputAudioTokens: number;
  inputImageTokens: number;
  outputImageTokens: number;
  /** Searches of the web that the provider made for the answer, where its usage counts them: each has a price. */
  webSearches: number;
  /** The tier of service in which the provider answered, if it has prices of its own; null: any other. */
  tier: ServiceTier | null;
  /** The answer was made in the United States alone, which costs more at Anthropic. */
  isInUs: boolean;
  /** Cost of the call as the provider says it, in whole nano-dollars; null: it does not say. */
  toldNano: number | null;
  /** Tokens of other models that were asked for advice meanwhile, each at its own price. The counts above leave them out. */
  advice: readonly Advice[];
};

/** Tokens that an advisor read and wrote: https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool */
type Advice = { model: string; usage: Usage };

/** A tier of service with prices of its own: OpenAI's flex and priority, and Anthropic's fast mode and batches. */
type ServiceTier = 'flex' | 'priority' | 'fast' | 'batch';

/** Returns the usage of a call with text in and text out, without caches. */
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
    inputImageTokens: 0,
    outputImageTokens: 0,
    webSearches: 0,
    tier: null,
    isInUs: false,
    toldNano: null,
    advice: [],
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
 * Responses, Messages. DeepSeek's own names for cached tokens are understood too. Null when the provider gave none; when
 * all counts are zero, as Gemini's are for embeddings, which it does not count; or when a translated stream broke off
 * with only its prompt counted.
 */
export function readUsage(answer: JsonObject): Usage | null {
  return isBegun(answer) ? null : readCounts(answer);
}

/** Returns the usage of an answer that broke off with only its prompt counted, for which `readUsage` returns null; else null. */
export function readBegunUsage(answer: JsonObject): Usage | null {
  return isBegun(answer) ? readCounts(answer) : null;
}

function readCounts(answer: JsonObject): Usage | null {
  const { usage } = answer;
  if (!isObject(usage)) return null;
  const read =
    count(usage.prompt_tokens) === null ? readInputUsage(usage) : readPromptUsage(usage, answer.model);
  const isCounted = read !== null && Object.values(read).some((tokens) => Number(tokens) > 0);
  return isCounted
    ? {
        ...withinBounds(read),
        ...serviceOf(answer, usage),
        toldNano: toldCostNano(usage),
        advice: adviceOf(usage),
      }
    : null;
}

/**
 * Returns how the provider served the call, as far as prices depend on it: `service_tier` of OpenAI's answers, which the gateway
 * translates into a member of the usage, and what the usage of Messages says. Of its own tiers, only that of batches has other
 * prices, and its calls come by `POST /v1/log/request`; its priority is paid for in advance.
 */
function serviceOf(answer: JsonObject, usage: JsonObject): Pick<Usage, 'tier' | 'isInUs'> {
  const tier = answer.service_tier ?? usage.openai_service_tier;
  const named = tier === 'flex' || tier === 'priority' ? tier : null;
  const ofMessages = usage.service_tier === 'batch' ? 'batch' : named;
  return { tier: usage.speed === 'fast' ? 'fast' : ofMessages, isInUs: usage.inference_geo === 'us' };
}

const NANO_PER_USD = 1e9;
/** No call costs more, in dollars: what is said to is no cost. */
const MAX_COST_USD = 100_000;

/**
 * Reads what a call cost by its usage, as OpenRouter says it: `cost` in dollars, and beside it what the maker of the model asks for, where
 * the call was made with the caller's own key. https://openrouter.ai/docs/use-cases/usage-accounting
 */
export function toldCostNano(usage: JsonObject): number | null {
  const { cost, is_byok: isOwnKey, cost_details: details } = usage;
  const upstream = isOwnKey === true && isObject(details) ? details.upstream_inference_cost : 0;
  const usd = typeof cost === 'number' && typeof upstream === 'number' ? cost + upstream : Number.NaN;
  return usd >= 0 && usd <= MAX_COST_USD ? Math.round(usd * NANO_PER_USD) : null;
}

/** Returns whether the prompt is the only count, as the log keeps it from the beginning of a translated stream. */
function isBegun({ choices, usage }: JsonObject): boolean {
  if (!Array.isArray(choices) || !isObject(usage) || count(usage.prompt_tokens) === null) return false;
  return usage.completion_tokens === undefined && usage.total_tokens === undefined;
}

/** Limits sums: counts that are possible each may have a sum that is not. */
function withinBounds(usage: Usage): Usage {
  return {
    ...usage,
    promptTokens: Math.min(MAX_TOKENS, usage.promptTokens),
    completionTokens: Math.min(MAX_TOKENS, usage.completionTokens),
    totalTokens: Math.min(MAX_TOKENS, usage.totalTokens),
  };
}

/** Reads usage in the form of `prompt_tokens` and `completion_tokens`. */
function readPromptUsage(usage: JsonObject, model: unknown): Usage {
  const cachedTokens =
    detail(usage, 'prompt_tokens_details', 'cached_tokens') || (count(usage.prompt_cache_hit_tokens) ?? 0);
  const sides = readSides(usage, cachedTokens, model);
  return {
    ...textUsage(0, 0),
    ...sides,
    totalTokens: count(usage.total_tokens) ?? sides.promptTokens + sides.completionTokens,
    cachedTokens,
    cacheWriteTokens: detail(usage, 'prompt_tokens_details', 'cache_write_tokens'),
    // As the gateway translates the usage of Messages.
    cacheWriteHourTokens: detail(usage, 'prompt_tokens_details', 'cache_write_1h_tokens'),
    inputAudioTokens: detail(usage, 'prompt_tokens_details', 'audio_tokens'),
    outputAudioTokens: detail(usage, 'completion_tokens_details', 'audio_tokens'),
    inputImageTokens: detail(usage, 'prompt_tokens_details', 'image_tokens'),
    outputImageTokens: detail(usage, 'completion_tokens_details', 'image_tokens'),
  };
}

/**
 * Reads the prompt and completion tokens. Some providers leave tokens out of both counts but not out of the total: those
 * are added to the side they are known to belong to. A gap without an explanation stays: with some proxies it is tokens
 * read from a cache (https://github.com/Portkey-AI/gateway/pull/1211), which cost a fraction of output.
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
  // A prompt includes its cached tokens, so a smaller count excludes them, as with some of xAI's models.
  const isCachedApart =
    cachedTokens > promptTokens && (gap === cachedTokens || gap === cachedTokens + reasoningTokens);
  const cachedApart = isCachedApart ? cachedTokens : 0;
  const uncounted = uncountedReasoningIn(gap - cachedApart, usage, reasoningTokens, model);
  return {
    promptTokens: promptTokens + cachedApart,
    completionTokens: completionTokens + uncounted,
    reasoningTokens: Math.max(reasoningTokens, uncounted),
  };
}

/** Returns the number of reasoning tokens that the completion tokens leave out. */
function uncountedReasoningIn(
  gap: number,
  usage: JsonObject,
  reasoningTokens: number,
  model: unknown,
): number {
  if (gap <= 0) return 0;
  // xAI counts the visible text alone, and reports the reasoning tokens beside it.
  if (gap === reasoningTokens) return gap;
  // Gemini counts the same way without reporting reasoning tokens. It is recognized by the answer's model, also behind
  // proxies, which pass these counts on. Embeddings have no completion tokens, and no reasoning.
  const isGemini = typeof model === 'string' && /gemini/i.test(model) && 'completion_tokens' in usage;
  return isGemini && reasoningTokens === 0 ? gap : 0;
}

/** Reads `input_tokens` and `output_tokens`: those of Responses include cached tokens, those of Messages do not. */
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
    // A stream may correct the written tokens without repeating the part kept for an hour.
    cacheWriteHourTokens: Math.min(written, detail(usage, 'cache_creation', 'ephemeral_1h_input_tokens')),
    reasoningTokens:
      detail(usage, 'output_tokens_details', 'reasoning_tokens') ||
      detail(usage, 'output_tokens_details', 'thinking_tokens'),
    // Fields of the images API, whose calls are logged by `POST /v1/log/request`.
    inputImageTokens: detail(usage, 'input_tokens_details', 'image_tokens'),
    outputImageTokens: detail(usage, 'output_tokens_details', 'image_tokens'),
    webSearches: detail(usage, 'server_tool_use', 'web_search_requests'),
  };
}

/**
 * Returns the usages that the counts of a Messages answer leave out: those of compactions, in which the same model first
 * shortened the conversation. https://platform.claude.com/docs/en/build-with-claude/compaction
 */
function compactionsOf(usage: JsonObject): JsonObject[] {
  return iterationsOf(usage, 'compaction');
}

/** Returns the advice that a Messages answer took. */
function adviceOf(usage: JsonObject): Advice[] {
  const isInUs = usage.inference_geo === 'us';
  return iterationsOf(usage, 'advisor_message').flatMap((part) => {
    const read = readInputUsage(part);
    return read === null || typeof part.model !== 'string'
      ? []
      : [{ model: part.model, usage: { ...withinBounds(read), isInUs } }];
  });
}

function iterationsOf({ iterations }: JsonObject, type: string): JsonObject[] {
  if (!Array.isArray(iterations)) return [];
  return iterations.filter((part) => isObject(part)).filter((part) => part.type === type);
}
