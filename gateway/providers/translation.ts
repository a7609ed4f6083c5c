/** Translations of calls in one dialect for providers of the other, and of their responses back. */
import type { JsonObject } from '#core/json/mod.ts';
import {
  CompletionStreamTranslator,
  fromCompletion,
  fromCount,
  fromMessagesRequest,
  fromResponse,
  MessagesStreamTranslator,
  ResponseStreamTranslator,
  type StreamTranslator,
  toAnthropicError,
  toCompletion,
  toCountRequest,
  toMessagesRequest,
  toOpenAiError,
  toResponsesRequest,
  withoutForeignReasoning,
} from './anthropic/mod.ts';
import { type ProviderEndpoint, type ProviderRow, REASONING_MODEL } from './registry.ts';
import type { Candidate } from './resolve.ts';

export type Translation = {
  /** The provider endpoint that is called in place of the one that the client called. */
  endpoint: ProviderEndpoint;
  /**
   * Translates a request body.
   * @param model the model as the provider names it
   * @throws AssayError invalid_body, naming the field that the other dialect cannot express
   */
  request(body: JsonObject, model: string, row: ProviderRow): JsonObject;
  /**
   * Translates the body of a successful response.
   * @throws AssayError provider_bad_answer
   */
  answer(answer: JsonObject, origin: AnswerOrigin): JsonObject;
  /**
   * Makes the translator of one streamed response; null: its responses are never streamed.
   * @param options `maxEventBytes`: limit of one event of the provider's
   */
  stream: ((options: AnswerOrigin & { maxEventBytes: number }) => StreamTranslator) | null;
  /** Translates the body of an error response. */
  error(status: number, body: string): JsonObject;
};

/** Provider and time of an answer. */
export type AnswerOrigin = {
  /** Seconds since 1970, for dialects whose answers contain it. */
  created: number;
  /** The provider's name in records, for reasoning that its maker alone can read. */
  label: string;
};

/** Models that allow at most 4,096 tokens in a completion. */
const OLD_CLAUDE = /claude-(?:instant|2|3-(?:opus|sonnet|haiku))/;
const OLD_MAX_TOKENS = 4_096;
/** For calls without a limit of their own: Anthropic requires one. */
const DEFAULT_MAX_TOKENS = 8_192;

/** The translations by their names, which threads are told. */
export const TRANSLATIONS = {
  'chat by messages': {
    endpoint: 'messages',
    request: (body, model) => {
      const maxTokensDefault = OLD_CLAUDE.test(model) ? OLD_MAX_TOKENS : DEFAULT_MAX_TOKENS;
      return toMessagesRequest(body, { model, maxTokensDefault });
    },
    answer: (message, { created }) => toCompletion(message, { created }),
    stream: (options) => new MessagesStreamTranslator(options),
    error: toOpenAiError,
  },
  'messages by chat': {
    endpoint: 'chat',
    request: (body, model, row) => {
      return fromMessagesRequest(body, { ...row, model, asksForUsage: row.takesUsageOption });
    },
    answer: fromCompletion,
    stream: (options) => new CompletionStreamTranslator(options),
    error: toAnthropicError,
  },
  'messages by responses': {
    endpoint: 'responses',
    request: (body, model, row) => toResponsesRequest(body, { ...row, model, provider: row.label }),
    answer: (response, { label }) => fromResponse(response, label),
    stream: ({ label, maxEventBytes }) => new ResponseStreamTranslator({ provider: label, maxEventBytes }),
    error: toAnthropicError,
  },
  'count by input tokens': {
    endpoint: 'inputTokens',
    request: (body, model, row) => toCountRequest(body, { ...row, model, provider: row.label }),
    answer: fromCount,
    stream: null,
    error: toAnthropicError,
  },
} as const satisfies Record<string, Translation>;

export type TranslationName = keyof typeof TRANSLATIONS;

/** Changes that a thread can make to a request. `messages without reasoning of others`: the answer is not translated. */
export type RequestChange = TranslationName | 'messages without reasoning of others';

/** Changes a request, as the translation of that name does. @throws as `Translation.request` */
export function changeRequest(
  change: RequestChange,
  body: JsonObject,
  model: string,
  row: ProviderRow,
): JsonObject {
  if (change === 'messages without reasoning of others') return { ...withoutForeignReasoning(body), model };
  return TRANSLATIONS[change].request(body, model, row);
}

/** Returns the translation of a call for a provider that lacks its endpoint; null when it has none that could answer. */
export function translationFor(
  endpoint: ProviderEndpoint,
  { row, model, paths }: Pick<Candidate, 'row' | 'model' | 'paths'>,
): TranslationName | null {
  switch (endpoint) {
    case 'chat':
      return paths.messages === undefined ? null : 'chat by messages';
    case 'messages':
      // In chat completions the newer ones refuse tools unless they are told not to reason, some are not there at all, and none goes on
      // from its reasoning of the turn before.
      if (row.reasonsInResponses && paths.responses !== undefined && REASONING_MODEL.test(model))
        return 'messages by responses';
      return paths.chat === undefined ? null : 'messages by chat';
    case 'countTokens':
      // Azure's Responses have no count, and those of a server of one's own may have none.
      return row.reasonsInResponses && paths.inputTokens !== undefined ? 'count by input tokens' : null;
    default:
      return null;
  }
}
