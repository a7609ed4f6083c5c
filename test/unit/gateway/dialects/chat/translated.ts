/** Chat requests that are translated to Messages, and the sentences of refusals. */
import { AssayError } from '#core/contracts/errors.ts';
import type { JsonObject } from '#core/json/mod.ts';
import { readChatRequest, writeMessagesRequest } from '../../../../../gateway/dialects/mod.ts';

export const HELLO = [{ role: 'user', content: 'Hello' }];
export const TOOL = {
  type: 'function',
  function: { name: 'f', parameters: { type: 'object', properties: {} } },
};

export function translated(body: JsonObject, model = 'claude-opus-4-6'): JsonObject {
  return writeMessagesRequest(readChatRequest({ model: 'asked', messages: HELLO, ...body }), {
    model,
    maxTokensDefault: 4_096,
  });
}

export function messagesOf(...messages: JsonObject[]): unknown {
  return translated({ messages }).messages;
}

/** Returns the sentence that refuses a body. */
export function refusal(body: JsonObject, model?: string): string {
  try {
    translated(body, model);
  } catch (error) {
    if (error instanceof AssayError && error.code === 'invalid_body') return error.message;
    throw error;
  }
  return 'it was translated';
}
