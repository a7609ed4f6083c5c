/** Translates calls of one dialect for providers of the other, and their responses back. */
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
   * @param model as the provider knows it
   * @throws AssayError invalid_body, naming the field that the other dialect cannot express
   */
  request(body: JsonObject, model: string, row: ProviderRow): JsonObject;
  /**
   * @param created seconds since 1970, for dialects whose answers say so
   * @throws AssayError provider_bad_answer
   */
  answer(answer: JsonObject, created: number): JsonObject;
  /** @param options `created`: as above; `maxEventBytes`: how long an event of the provider's may be */
  stream(options: { created: number; maxEventBytes: number }): StreamTranslator;
  error(status: number, body: string): JsonObject;
};

/** Models before these allow no longer completions. */
const OLD_CLAUDE = /claude-(?:instant|2|3-(?:opus|sonnet|haiku))/;
const OLD_MAX_TOKENS = 4_096;
/** For calls that do not bound their completion, as Anthropic requires a bound. */
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
  request: (body, model, { maxTokensField, takesUsageOption, extensions }) =>
    fromMessagesRequest(body, { model, maxTokensField, asksForUsage: takesUsageOption, extensions }),
  answer: fromCompletion,
  stream: (options) => new CompletionStreamTranslator(options),
  error: toAnthropicError,
};

/** The translation for each endpoint that a provider may lack, by which another of its endpoints takes the call. */
export const TRANSLATIONS: Partial<Record<ProviderEndpoint, Translation>> = {
  chat: CHAT_BY_MESSAGES,
  messages: MESSAGES_BY_CHAT,
};
