/** Whole requests and answers between the two dialects: each is read into the one form and written from it. */
import type { JsonObject } from '#core/json/mod.ts';
import { readMessage } from './messages/read-message.ts';
import { readMessagesRequest } from './messages/read-request.ts';
import { writeMessage } from './messages/write-message.ts';
import { type MessagesRequestOptions, writeMessagesRequest } from './messages/write-request.ts';
import { readCompletion } from './openai/read-completion.ts';
import { readChatRequest } from './openai/read-request.ts';
import { writeCompletion } from './openai/write-completion.ts';
import { type ChatRequestOptions, writeChatRequest } from './openai/write-request.ts';

/**
 * A chat completion request as a Messages request.
 * @throws AssayError invalid_body, naming the field that Anthropic cannot express
 */
export function toMessagesRequest(body: JsonObject, options: MessagesRequestOptions): JsonObject {
  return writeMessagesRequest(readChatRequest(body), options);
}

/**
 * A Messages answer as a chat completion.
 * @param options `created`: seconds since 1970
 * @throws AssayError provider_bad_answer
 */
export function toCompletion(message: JsonObject, { created }: { created: number }): JsonObject {
  return writeCompletion(readMessage(message), created);
}

/**
 * A Messages request as a chat completion request.
 * @throws AssayError invalid_body, naming the field that OpenAI's dialect cannot express
 */
export function fromMessagesRequest(body: JsonObject, options: ChatRequestOptions): JsonObject {
  return writeChatRequest(readMessagesRequest(body), options);
}

/**
 * A chat completion as a Messages answer.
 * @throws AssayError provider_bad_answer
 */
export function fromCompletion(completion: JsonObject): JsonObject {
  return writeMessage(readCompletion(completion));
}
