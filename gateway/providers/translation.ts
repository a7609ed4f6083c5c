/** Translations of calls in one dialect for providers of the other, and of their responses back. */
import type { JsonObject } from '#core/json/mod.ts';
import {
  CompletionStreamTranslator,
  fromCompletion,
  fromMessagesRequest,
  MessagesStreamTranslator,
  type StreamTranslator,
  toAnthropicError,
  toCompletion,
  toMessagesRequest,
  toOpenAiError,
} from './anthropic/mod.ts';
import type { ProviderEndpoint, ProviderRow } from './registry.ts';

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
   * @param created seconds since 1970, for dialects whose answers contain it
   * @throws AssayError provider_bad_answer
   */
  answer(answer: JsonObject, created: number): JsonObject;
  /**
   * Makes the translator of one streamed response.
   * @param options `created`: as above; `maxEventBytes`: limit of one event of the provider's
   */
  stream(options: { created: number; maxEventBytes: number }): StreamTranslator;
  /** Translates the body of an error response. */
  error(status: number, body: string): JsonObject;
};

/** Models that allow at most 4,096 tokens in a completion. */
const OLD_CLAUDE = /claude-(?:instant|2|3-(?:opus|sonnet|haiku))/;
const OLD_MAX_TOKENS = 4_096;
/** For calls without a limit of their own: Anthropic requires one. */
const DEFAULT_MAX_TOKENS = 8_192;

const CHAT_BY_MESSAGES: Translation = {
  endpoint: 'messages',
  request: (body, model) => {
    const maxTokensDefault = OLD_CLAUDE.test(model) ? OLD_MAX_TOKENS : DEFAULT_MAX_TOKENS;
    return toMessagesRequest(body, { model, maxTokensDefault });
  },
  answer: (message, created) => toCompletion(message, { created }),
  stream: (options) => new MessagesStreamTranslator(options),
  error: toOpenAiError,
};

const MESSAGES_BY_CHAT: Translation = {
  endpoint: 'chat',
  request: (body, model, row) => {
    const { maxTokensField, takesUserAndTier, highestEffort, extensions } = row;
    const asksForUsage = row.takesUsageOption;
    const options = { model, maxTokensField, asksForUsage, takesUserAndTier, highestEffort, extensions };
    return fromMessagesRequest(body, options);
  },
  answer: fromCompletion,
  stream: (options) => new CompletionStreamTranslator(options),
  error: toAnthropicError,
};

/** The translations by the endpoint that the client called, for providers that lack it. */
export const TRANSLATIONS: Partial<Record<ProviderEndpoint, Translation>> = {
  chat: CHAT_BY_MESSAGES,
  messages: MESSAGES_BY_CHAT,
};
