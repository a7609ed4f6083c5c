import { isObject } from '#core/json/mod.ts';

export type ContentPiece = { type: 'text' | 'thinking'; text: string };

/**
 * Reads the content of an answer or of a delta: a text, or the list of parts that Mistral's reasoning models send. Parts of
 * other kinds, such as references, are left out, and so are empty ones.
 */
export function readContent(content: unknown): ContentPiece[] {
  if (!Array.isArray(content)) return piece('text', content);
  return content.flatMap((part: unknown): ContentPiece[] => {
    if (!isObject(part)) return [];
    if (part.type === 'text') return piece('text', part.text);
    if (part.type !== 'thinking' || !Array.isArray(part.thinking)) return [];
    return part.thinking.flatMap((thought: unknown) =>
      isObject(thought) ? piece('thinking', thought.text) : [],
    );
  });
}

function piece(type: ContentPiece['type'], text: unknown): ContentPiece[] {
  return typeof text === 'string' && text !== '' ? [{ type, text }] : [];
}
