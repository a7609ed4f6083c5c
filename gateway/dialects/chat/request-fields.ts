/**
 * Checks the fields of a chat completion request that goes to a model of Anthropic's. The rule: a field that could change
 * the answer is translated or refused; only fields that cannot change it are left out. docs/guides/translation.md lists
 * the same.
 */
import type { JsonObject } from '#core/json/mod.ts';
import { isAbsent, refuse } from '../fields.ts';

/** Read into the conversation. The last three are Anthropic's own, which OpenAI's clients send as extra fields. */
const TRANSLATED: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'stop',
  'stream',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'service_tier',
  'user',
  'safety_identifier',
  'top_k',
  'thinking',
  'cache_control',
]);

/** Left out: the answer is the same without them. */
const HARMLESS: ReadonlySet<string> = new Set([
  // Handled by the gateway: the usage is always known, and shown when the client asks for it.
  'stream_options',
  // Labels for OpenAI's dashboard; the gateway keeps its own record.
  'metadata',
  'store',
  // Hints that make the same answer faster or cheaper.
  'prediction',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
]);

type Rule = { allows(value: unknown): boolean; why: string };

const isZero = (value: unknown) => value === 0;
const never = () => false;

/** Refused, except for the value that is Anthropic's own behaviour. */
const REFUSED: Readonly<Record<string, Rule>> = {
  n: { allows: (value) => value === 1, why: 'must be 1: Anthropic gives one answer per call' },
  logprobs: {
    allows: (value) => value === false,
    why: 'must be false: Anthropic gives no log probabilities',
  },
  top_logprobs: { allows: isZero, why: 'must be 0: Anthropic gives no log probabilities' },
  logit_bias: {
    allows: (value) => typeof value === 'object' && Object.keys(value as object).length === 0,
    why: 'must be empty: Anthropic has no such field',
  },
  frequency_penalty: { allows: isZero, why: 'must be 0: Anthropic has no penalties' },
  presence_penalty: { allows: isZero, why: 'must be 0: Anthropic has no penalties' },
  seed: { allows: never, why: 'is not supported by Anthropic, whose answers cannot be repeated by a seed' },
  audio: { allows: never, why: "is not supported by Anthropic's models, which answer in text" },
  modalities: {
    allows: (value) => Array.isArray(value) && value.every((item) => item === 'text'),
    why: 'must be ["text"]: Anthropic\'s models answer in text',
  },
  verbosity: { allows: (value) => value === 'medium', why: 'must be medium: Anthropic has no such field' },
  functions: { allows: never, why: 'is deprecated and not translated: use tools' },
  function_call: { allows: never, why: 'is deprecated and not translated: use tool_choice' },
  web_search_options: { allows: never, why: 'is not translated to Anthropic' },
  moderation: { allows: never, why: 'is not supported by Anthropic' },
};

/** @throws AssayError invalid_body, naming the first field that Anthropic cannot honour */
export function checkRequestFields(body: JsonObject): void {
  for (const name in body) {
    const value = body[name];
    if (isAbsent(value) || TRANSLATED.has(name) || HARMLESS.has(name)) continue;
    const rule = Object.hasOwn(REFUSED, name) ? REFUSED[name] : undefined;
    if (rule === undefined) refuse(name, 'is not a known field, and cannot be translated to Anthropic');
    if (!rule.allows(value)) refuse(name, rule.why);
  }
}
