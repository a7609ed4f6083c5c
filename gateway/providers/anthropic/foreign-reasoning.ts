/**
 * Reasoning of OpenAI's models in a conversation that goes on with one of Anthropic's, which refuses blocks that it has not signed. They
 * are left out, as Anthropic's are for other makers. All else stays as it is.
 */
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';
import { MARK } from './responses/reasoning.ts';

/** Returns whether a Messages request may have such blocks: looks for the mark alone, as most requests have none. */
export function mayHaveForeignReasoning(bytes: Buffer): boolean {
  return bytes.includes(MARK);
}

/** Returns a Messages request without them, and without messages that hold nothing else. */
export function withoutForeignReasoning(body: JsonObject): JsonObject {
  if (!Array.isArray(body.messages)) return body;
  return { ...body, messages: body.messages.flatMap(withoutBlocks) };
}

function withoutBlocks(message: unknown): unknown[] {
  if (!isObject(message) || !Array.isArray(message.content)) return [message];
  const content = message.content.filter((block) => !isForeign(block));
  if (content.length === message.content.length) return [message];
  return content.length === 0 ? [] : [{ ...message, content }];
}

function isForeign(block: unknown): boolean {
  if (!isObject(block)) return false;
  const signed =
    block.type === 'thinking' ? block.signature : block.type === 'redacted_thinking' ? block.data : null;
  return textOrNull(signed)?.startsWith(MARK) ?? false;
}
