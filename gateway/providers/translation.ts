/** Calls of one dialect to a provider of the other: what each end reads is made from what the other writes. */
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
  /** The provider's endpoint that answers in place of the one that was called. */
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

/** Of models before these, answers could not be longer. */
const OLD_CLAUDE = /claude-(?:instant|2|3-(?:opus|sonnet|haiku))/;
const OLD_MAX_TOKENS = 4_096;
/** For calls that do not say how long their answer may be, which Anthropic wants to be told. */
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

/** For endpoints that a provider may lack, how they are answered by another of its. */
export const TRANSLATIONS: Partial<Record<ProviderEndpoint, Translation>> = {
  chat: CHAT_BY_MESSAGES,
  messages: MESSAGES_BY_CHAT,
};
