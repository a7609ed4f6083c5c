/**
 * Reasoning of OpenAI's models between two turns. It is encrypted, and the model goes on from it when the next request has it:
 * https://developers.openai.com/api/docs/guides/reasoning. Anthropic's dialect carries it as the signature of a thinking block, or as
 * a redacted one, which clients send back unchanged.
 */
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';
import type { ThinkingPart } from '../conversation.ts';
import { MARK, signedBy, UNSIGNED } from '../foreign-reasoning.ts';

/** The provider, which alone can decrypt it; the id; and what is encrypted. */
const CARRIED = /^~assay\.reasoning\.([A-Z]+)\.([\w-]*)\.(.+)$/s;

/**
 * Reads a reasoning item of an answer; null when nothing of it can be shown or sent back.
 * @param provider the provider that made it, as its row labels it
 */
export function readReasoning(item: JsonObject, provider: string): ThinkingPart | null {
  const text = summaryOf(item);
  const encrypted = textOrNull(item.encrypted_content);
  const data = encrypted === null ? null : `${MARK}${provider}.${textOrNull(item.id) ?? ''}.${encrypted}`;
  if (text !== '') return { type: 'thinking', text, signature: data ?? UNSIGNED };
  return data === null ? null : { type: 'redacted_thinking', data };
}

/** Separator of the parts of a summary. */
export const BETWEEN_PARTS = '\n\n';

/** Returns the summary of a reasoning item, or its text, which models with open weights show. */
function summaryOf({ summary, content }: JsonObject): string {
  const parts = [summary, content].find((list) => Array.isArray(list) && list.length > 0);
  const texts = Array.isArray(parts)
    ? parts.map((part) => (isObject(part) ? textOrNull(part.text) : null))
    : [];
  return texts.filter((text) => text !== null && text !== '').join(BETWEEN_PARTS);
}

/** Writes thinking as the reasoning item that it was; none when this provider did not make it, and so cannot read it. */
export function writeReasoning(part: ThinkingPart, provider: string): JsonObject[] {
  const [, maker, id, encrypted] = CARRIED.exec(signedBy(part)) ?? [];
  if (maker !== provider) return [];
  const text = part.type === 'thinking' ? part.text : '';
  return [
    {
      type: 'reasoning',
      ...(id === '' ? {} : { id }),
      summary: text === '' ? [] : [{ type: 'summary_text', text }],
      encrypted_content: encrypted,
    },
  ];
}
