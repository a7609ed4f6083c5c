/** Classifies unsuccessful responses to a judge's call. */
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';
import { type EvaluationErrorCode, type FailedOutcome, publicMessage } from '#core/scoring/mod.ts';
import { type JudgePlan, planWithout, type UnsupportedFeature } from './plan.ts';

/** The meaning of an unsuccessful response for the attempt. */
export type JudgeFailure =
  /** The provider refuses a feature of the plan. `isLasting`: it will refuse it the next time as well. */
  | { kind: 'unsupported'; feature: UnsupportedFeature; isLasting: boolean }
  /** The answer cannot be read; another call may give a better one. */
  | { kind: 'malformed'; message: string }
  | { kind: 'failed'; outcome: FailedOutcome };

/** Makes a failed outcome; by default the evaluation is not tried again and nothing is paused. */

export function failed(
  code: EvaluationErrorCode,
  message: string,
  more: Partial<Pick<FailedOutcome, 'retry' | 'retryAfterMs' | 'pause'>> = {},
): FailedOutcome {
  return {
    state: 'failed',
    code,
    message: publicMessage(message),
    retry: 'never',
    retryAfterMs: null,
    pause: null,
    traces: null,
    ...more,
  };
}

/**
 * A provider's error: its sentence, and all its words in one text for the patterns below. The whole body is not searched,
 * because some errors quote the judge's output, which an answer under test may have dictated.
 */
type ProviderError = { status: number; message: string; code: string; parameter: string; words: string };

const BILLING =
  /insufficient[ _]?(?:quota|balance|credits?|funds)|credit balance is too low|used all available credits|billing_(?:hard_limit|not_active)|spending limit|payment required/i;
const BAD_KEY =
  /api[ _]?key (?:not valid|invalid|expired|is invalid)|API_KEY_INVALID|invalid_api_key|incorrect api key/i;
const TOO_LONG =
  /context_length_exceeded|maximum context length|context (?:length|window) (?:of|is|exceeded|limit)|prompt is too long|input is too long|too many (?:input )?tokens|exceeds? the (?:model's )?(?:maximum )?context|input token count|reduce the length of the (?:messages|prompt)/i;
const FILTERED =
  /content_filter|content_policy|ResponsibleAIPolicyViolation|content management policy|safety system|requires moderation|flagged by|data_inspection_failed/i;
const NO_MODEL =
  /model_not_found|model_not_available|model_decommissioned|invalid_model|unknown model|model not found|invalid model|no such model|deploymentnotfound|provider_not_configured|not a valid model|model.{0,120}(?:does not exist|has been (?:deprecated|decommissioned|retired|removed)|is not available|not supported for|no longer (?:available|supported))|not have access to (?:the )?model|no endpoints found/i;
const NO_MODEL_CODE = /^(?:model_not_found|model_decommissioned|invalid_model|provider_not_configured)$/;

/**
 * Classifies a response with a status other than 2xx.
 * @param answer its status, its body, and the delay that its headers ask for
 * @param plan the plan of the request
 */
export function readFailure(
  answer: { status: number; text: string; retryAfterMs: number | null },
  plan: JudgePlan,
): JudgeFailure {
  const facts = readProviderError(answer.status, answer.text);
  const { status, words } = facts;
  const sentence = `The judge's provider answered ${status}${facts.message === '' ? '' : `: ${facts.message}`}`;
  const retryAfterMs = capped(answer.retryAfterMs ?? retryDelayIn(answer.text));
  const fail = (...parameters: Parameters<typeof failed>): JudgeFailure => ({
    kind: 'failed',
    outcome: failed(...parameters),
  });

  if (status < 400) return { kind: 'malformed', message: sentence };
  if (status === 402 || (status < 500 && BILLING.test(words))) {
    return fail('judge_billing', sentence, { retry: 'later', pause: 'billing' });
  }
  if (status === 429) return fail('judge_rate_limited', sentence, { retry: 'later', retryAfterMs });
  // The gateway's own error codes.
  if (facts.code === 'provider_bad_answer') return { kind: 'malformed', message: sentence };
  if (status === 408 || status === 504 || facts.code === 'provider_timeout') {
    return fail('judge_timeout', sentence, { retry: 'later', retryAfterMs });
  }
  if (status >= 500 || status === 499 || status === 425) {
    return fail('judge_unavailable', sentence, { retry: 'later', retryAfterMs });
  }
  return readClientError(facts, plan, sentence, fail);
}

/** Classifies the statuses that blame the request. */
function readClientError(
  facts: ProviderError,
  plan: JudgePlan,
  sentence: string,
  fail: (...parameters: Parameters<typeof failed>) => JudgeFailure,
): JudgeFailure {
  const { status, words } = facts;
  if (FILTERED.test(words)) return fail('judge_content_filtered', sentence);
  if (status === 401 || BAD_KEY.test(words)) {
    return fail('judge_unauthorized', sentence, { retry: 'later', pause: 'auth' });
  }
  if (status === 413 || TOO_LONG.test(words)) return fail('input_too_large', sentence);
  const unsupported =
    status === 403 || NO_MODEL_CODE.test(facts.code) ? null : readUnsupportedFeature(facts, plan);
  if (unsupported !== null) return unsupported;
  if (status === 404 || NO_MODEL.test(words)) {
    return fail('judge_model_unavailable', sentence, { retry: 'later', pause: 'model' });
  }
  if (status === 403) return fail('judge_unauthorized', sentence, { retry: 'later', pause: 'auth' });
  return fail('judge_rejected', sentence);
}

/** Features are recognized by the parameter that the error names, else by its words; narrower patterns come first. */
const FEATURE_PATTERNS: readonly [UnsupportedFeature, RegExp][] = [
  ['max_tokens_name', /max_tokens.{0,80}use ['"`]?max_completion_tokens/is],
  ['temperature', /\btemperature\b/i],
  ['max_tokens', /\bmax_(?:completion_)?tokens\b/i],
  ['response_format', /response_?format|json_schema|json_validate_failed|structured output|json mode/i],
  ['tools', /\btools?\b|tool_choice|tool_use|tool_calls?|function[ _]?call|\bfunctions?\b/i],
  [
    'system',
    /developer instruction|system (?:role|message|prompt|instruction)|does not support ['"`]?system/i,
  ],
];
/** A mistake of the model in calling the tool, which it may not repeat. */
const MODEL_MISTAKE = /tool_use_failed|json_validate_failed|failed_generation/i;

function readUnsupportedFeature({ parameter, words }: ProviderError, plan: JudgePlan): JudgeFailure | null {
  const possible = FEATURE_PATTERNS.filter(([feature]) => planWithout(plan, feature) !== null);
  const found =
    possible.find(([feature, pattern]) => feature === 'max_tokens_name' && pattern.test(words)) ??
    possible.find(([, pattern]) => pattern.test(parameter)) ??
    possible.find(([, pattern]) => pattern.test(words));
  return found === undefined
    ? null
    : { kind: 'unsupported', feature: found[0], isLasting: !MODEL_MISTAKE.test(words) };
}

/** Characters searched: an error page can be long, and its message is at its beginning. */
const MAX_READ_CHARACTERS = 10_000;

function readProviderError(status: number, text: string): ProviderError {
  const body = parseErrorBody(text);
  if (body === null) {
    return { status, message: '', code: '', parameter: '', words: text.slice(0, MAX_READ_CHARACTERS) };
  }
  const error = isObject(body.error) ? body.error : body;
  const message =
    textOrNull(error.message) ??
    textOrNull(body.error) ??
    textOrNull(body.message) ??
    textOrNull(body.detail) ??
    '';
  const parameter = textOrNull(error.param) ?? locationsOf(body.detail);
  const code = textOrNull(error.code) ?? textOrNull(body.code) ?? '';
  // OpenRouter passes on the underlying provider's error as text.
  const behind = isObject(error.metadata) ? textOrNull(error.metadata.raw) : null;
  const words = [message, code, textOrNull(error.type), parameter, behind]
    .filter((word) => word !== null)
    .join(' ');
  return {
    status,
    message: withoutKeys(message),
    code,
    parameter,
    words: words.slice(0, MAX_READ_CHARACTERS),
  };
}

/** Parses an error body; Google's compatible endpoint wraps it in a list. */
function parseErrorBody(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    const body: unknown = Array.isArray(value) ? value[0] : value;
    return isObject(body) ? body : null;
  } catch {
    return null;
  }
}

/** Returns the locations in FastAPI's `detail`, which errors of Mistral and vLLM have. */
function locationsOf(detail: unknown): string {
  if (!Array.isArray(detail)) return '';
  return (detail as unknown[])
    .flatMap((item) => (isObject(item) && Array.isArray(item.loc) ? [item.loc.join('.')] : []))
    .join(' ');
}

/** Masks API keys: providers quote the key that they refuse, which is the operator's. */
function withoutKeys(message: string): string {
  return message.replaceAll(/\b(?:(?:sk|pk|rk|gsk|xai|key)[-_]|AIza|Bearer )[\w*.-]{8,}/g, '***');
}

const LONGEST_DELAY_MS = 3_600_000;

function capped(delayMs: number | null): number | null {
  return delayMs === null ? null : Math.min(Math.max(delayMs, 0), LONGEST_DELAY_MS);
}

/** Reads the delay that Google puts into the body: `"retryDelay": "34s"`. */
function retryDelayIn(text: string): number | null {
  const seconds = /"retryDelay"\s*:\s*"(\d{1,6}(?:\.\d{1,9})?)s"/.exec(
    text.slice(0, MAX_READ_CHARACTERS),
  )?.[1];
  return seconds === undefined ? null : Math.ceil(Number(seconds) * 1_000);
}
