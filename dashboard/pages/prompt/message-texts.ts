/** Messages of a prompt's body as texts, for reading and comparing. Pure. */
import type { JsonObject } from '#core/json-values/mod.ts';
import { type DraftMessage, type DraftPart, readMessages } from '../../parts/draft/messages.ts';

export type MessageText = { role: string; text: string };

function partText(part: DraftPart): string {
  return part.kind === 'kept' ? `[${part.label}]` : part.text;
}

function textOf({ role, parts, others }: DraftMessage): MessageText {
  const texts = [...parts.map(partText), others].filter((text) => text !== '');
  return { role, text: texts.join('\n\n') };
}

/** Returns the messages of a body in their order. */
export function messageTexts(body: JsonObject): MessageText[] {
  return readMessages('chat', body).map(textOf);
}

/** A message of one version, of the other, or of both at the same place. */
export type MessagePair = { before: MessageText | null; after: MessageText | null };

/** Puts the messages of two bodies beside one another, by their places. */
export function pairMessages(before: readonly MessageText[], after: readonly MessageText[]): MessagePair[] {
  return Array.from({ length: Math.max(before.length, after.length) }, (_, index) => ({
    before: before[index] ?? null,
    after: after[index] ?? null,
  }));
}
