/**
 * Reasoning of other makers' models in a conversation that goes on with one of Anthropic's, which refuses blocks that it has not signed.
 * It is left out, as Anthropic's is for other makers. All else stays as it is.
 */
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';
import type { ThinkingPart } from './conversation.ts';

/**
 * Begins what stands for the signature of such reasoning: Anthropic's signatures begin otherwise. It begins with a character that hardly
 * any request has: then a body is searched for it in some 3 µs for 50 KB.
 */
export const MARK = '~assay.reasoning.';
/** Stands for the signature of a thought that has none, so that it is found, too. */
export const UNSIGNED = `${MARK}unsigned`;

/** Returns what the maker of a thought has signed or encrypted it with. */
export function signedBy(part: ThinkingPart): string {
  return part.type === 'thinking' ? part.signature : part.data;
}

/** Returns whether Anthropic has not signed a thought. */
export function isForeignThinking(part: ThinkingPart): boolean {
  return signedBy(part).startsWith(MARK);
}

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
