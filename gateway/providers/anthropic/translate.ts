/** Translates whole requests and answers: each is read into the form between the dialects and written from it. */
import type { JsonObject } from '#core/json/mod.ts';
import { readMessage } from './messages/read-message.ts';
import { readMessagesRequest } from './messages/read-request.ts';
import { writeMessage } from './messages/write-message.ts';
import { type MessagesRequestOptions, writeMessagesRequest } from './messages/write-request.ts';
import { readCompletion } from './openai/read-completion.ts';
import { readChatRequest } from './openai/read-request.ts';
import { writeCompletion } from './openai/write-completion.ts';
import { type ChatRequestOptions, writeChatRequest } from './openai/write-request.ts';
import { readResponse } from './responses/read-response.ts';
import { readInputTokens } from './responses/usage.ts';
import {
  type ResponsesRequestOptions,
  writeCountRequest,
  writeResponsesRequest,
} from './responses/write-request.ts';

/**
 * Translates a chat completion request into a Messages request.
 * @throws AssayError invalid_body, naming the field that Anthropic cannot express
 */
export function toMessagesRequest(body: JsonObject, options: MessagesRequestOptions): JsonObject {
  return writeMessagesRequest(readChatRequest(body), options);
}

/**
 * Translates a Messages answer into a chat completion.
 * @param options `created`: seconds since 1970
 * @throws AssayError provider_bad_answer
 */
export function toCompletion(message: JsonObject, { created }: { created: number }): JsonObject {
  return writeCompletion(readMessage(message), created);
}

/**
 * Translates a Messages request into a chat completion request.
 * @throws AssayError invalid_body, naming the field that OpenAI's dialect cannot express
 */
export function fromMessagesRequest(body: JsonObject, options: ChatRequestOptions): JsonObject {
  return writeChatRequest(readMessagesRequest(body), options);
}

/**
 * Translates a chat completion into a Messages answer.
 * @throws AssayError provider_bad_answer
 */
export function fromCompletion(completion: JsonObject): JsonObject {
  return writeMessage(readCompletion(completion));
}

/**
 * Translates a Messages request into one of OpenAI's Responses.
 * @throws AssayError invalid_body, naming the field that Responses cannot express
 */
export function toResponsesRequest(body: JsonObject, options: ResponsesRequestOptions): JsonObject {
  return writeResponsesRequest(readMessagesRequest(body), options);
}

/**
 * Translates a request of Anthropic's count of tokens into one of OpenAI's count for Responses.
 * @throws AssayError invalid_body, naming the field that Responses cannot express
 */
export function toCountRequest(body: JsonObject, options: ResponsesRequestOptions): JsonObject {
  // A count is a Messages request without its limit, which is written nowhere.
  return writeCountRequest(readMessagesRequest({ ...body, max_tokens: 1 }), options);
}

/**
 * Translates the answer of OpenAI's count for Responses into Anthropic's.
 * @throws AssayError provider_bad_answer
 */
export function fromCount(count: JsonObject): JsonObject {
  return { input_tokens: readInputTokens(count) };
}

/**
 * Translates an answer of OpenAI's Responses into a Messages answer.
 * @param provider the name of the provider that made it
 * @throws AssayError provider_bad_answer
 */
export function fromResponse(response: JsonObject, provider: string): JsonObject {
  return writeMessage(readResponse(response, provider));
}
