/** What an answer of another status than success means for the evaluation. */
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';
import { type EvaluationErrorCode, type Outcome, publicMessage } from '#core/scoring/mod.ts';
import { type Complaint, heed, type Plan } from './plan.ts';

export type Failed = Extract<Outcome, { state: 'failed' }>;

export type Failure =
  /** The provider cannot do something that the plan asks for. `lasting`: nor will it the next time. */
  | { kind: 'complaint'; complaint: Complaint; lasting: boolean }
  /** No answer that could be read; another try may give one. */
  | { kind: 'malformed'; message: string }
  | { kind: 'failed'; outcome: Failed };

export function failed(
  code: EvaluationErrorCode,
  message: string,
  more: Partial<Pick<Failed, 'retry' | 'retryAfterMs' | 'pause'>> = {},
): Failed {
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
 * What is known of an error: its sentence, and its words in one text for the patterns below. Not the whole body: some
 * quote what the judge has written, which an answer under test may have put into its mouth.
 */
type ErrorFacts = { status: number; message: string; code: string; parameter: string; words: string };

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
 * Reads an answer whose status is not one of success.
 * @param answer its status, its body, and the delay that its headers ask for
 * @param plan how the judge was asked
 */
export function readFailure(
  answer: { status: number; text: string; retryAfterMs: number | null },
  plan: Plan,
): Failure {
  const facts = readFacts(answer.status, answer.text);
  const { status, words } = facts;
  const told = `The judge's provider answered ${status}${facts.message === '' ? '' : `: ${facts.message}`}`;
  const retryAfterMs = capped(answer.retryAfterMs ?? retryDelayIn(answer.text));
  const fail = (...parameters: Parameters<typeof failed>): Failure => ({
    kind: 'failed',
    outcome: failed(...parameters),
  });

  if (status < 400) return { kind: 'malformed', message: told };
  if (status === 402 || (status < 500 && BILLING.test(words))) {
    return fail('judge_billing', told, { retry: 'later', pause: 'billing' });
  }
  if (status === 429) return fail('judge_rate_limited', told, { retry: 'later', retryAfterMs });
  // Codes of the gateway's own.
  if (facts.code === 'provider_bad_answer') return { kind: 'malformed', message: told };
  if (status === 408 || status === 504 || facts.code === 'provider_timeout') {
    return fail('judge_timeout', told, { retry: 'later', retryAfterMs });
  }
  if (status >= 500 || status === 499 || status === 425) {
    return fail('judge_unavailable', told, { retry: 'later', retryAfterMs });
  }
  return readRefusal(facts, plan, told, fail);
}

/** The statuses that blame the request. */
function readRefusal(
  facts: ErrorFacts,
  plan: Plan,
  told: string,
  fail: (...parameters: Parameters<typeof failed>) => Failure,
): Failure {
  const { status, words } = facts;
  if (FILTERED.test(words)) return fail('judge_content_filtered', told);
  if (status === 401 || BAD_KEY.test(words)) {
    return fail('judge_unauthorized', told, { retry: 'later', pause: 'auth' });
  }
  if (status === 413 || TOO_LONG.test(words)) return fail('input_too_large', told);
  const complaint = status === 403 || NO_MODEL_CODE.test(facts.code) ? null : readComplaint(facts, plan);
  if (complaint !== null) return complaint;
  if (status === 404 || NO_MODEL.test(words)) {
    return fail('judge_model_unavailable', told, { retry: 'later', pause: 'model' });
  }
  if (status === 403) return fail('judge_unauthorized', told, { retry: 'later', pause: 'auth' });
  return fail('judge_rejected', told);
}

/** By the parameter that the error names, else by its words; the narrower first. */
const COMPLAINTS: readonly [Complaint, RegExp][] = [
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
/** The model's own mistake in calling the tool, which it may not make again. */
const MISTAKE = /tool_use_failed|json_validate_failed|failed_generation/i;

function readComplaint({ parameter, words }: ErrorFacts, plan: Plan): Failure | null {
  const possible = COMPLAINTS.filter(([complaint]) => heed(plan, complaint) !== null);
  const found =
    possible.find(([complaint, pattern]) => complaint === 'max_tokens_name' && pattern.test(words)) ??
    possible.find(([, pattern]) => pattern.test(parameter)) ??
    possible.find(([, pattern]) => pattern.test(words));
  return found === undefined
    ? null
    : { kind: 'complaint', complaint: found[0], lasting: !MISTAKE.test(words) };
}

/** A provider's page can be long; what it says is in its beginning. */
const MAX_READ_CHARACTERS = 10_000;

function readFacts(status: number, text: string): ErrorFacts {
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
  // OpenRouter passes the error of the provider behind it on as a text.
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

/** The error of a body; Google's compatible endpoint puts it into a list. */
function parseErrorBody(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    const body: unknown = Array.isArray(value) ? value[0] : value;
    return isObject(body) ? body : null;
  } catch {
    return null;
  }
}

/** Where FastAPI's `detail` says the fault is: Mistral's and vLLM's errors have it. */
function locationsOf(detail: unknown): string {
  if (!Array.isArray(detail)) return '';
  return (detail as unknown[])
    .flatMap((item) => (isObject(item) && Array.isArray(item.loc) ? [item.loc.join('.')] : []))
    .join(' ');
}

/** Providers quote the key that they refuse, which is the operator's. */
function withoutKeys(message: string): string {
  return message.replaceAll(/\b(?:(?:sk|pk|rk|gsk|xai|key)[-_]|AIza|Bearer )[\w*.-]{8,}/g, '***');
}

const LONGEST_DELAY_MS = 3_600_000;

function capped(delayMs: number | null): number | null {
  return delayMs === null ? null : Math.min(Math.max(delayMs, 0), LONGEST_DELAY_MS);
}

/** Google says it in the body: `"retryDelay": "34s"`. */
function retryDelayIn(text: string): number | null {
  const seconds = /"retryDelay"\s*:\s*"(\d{1,6}(?:\.\d{1,9})?)s"/.exec(
    text.slice(0, MAX_READ_CHARACTERS),
  )?.[1];
  return seconds === undefined ? null : Math.ceil(Number(seconds) * 1_000);
}
