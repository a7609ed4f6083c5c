/** What a response's body says. */
import { isObject, type JsonObject } from '#core/json-values/mod.ts';
import { plural } from '../../formats/numbers.ts';
import { type Keeper, shortText } from './keeper.ts';
import { readMessage } from './read-message.ts';
import type { Message, Notice, Part } from './types.ts';

/** Something that becomes a message when its page is asked for. */
export type Pending = (keeper: Keeper) => Message;

/** Bytes of a number in an embedding that is base64. */
const BYTES_OF_NUMBER = 4;
/** UTF-16 code units of an error's words. */
const LONGEST_NOTICE = 2_000;

/** Returns what answers: choices, candidates, items, contents, vectors. */
export function pendingAnswers(body: unknown): Pending[] {
  if (!isObject(body)) return [];
  const { choices, candidates, output, content, data, embeddings, text } = body;
  if (Array.isArray(choices)) return pendingChoices(choices as unknown[], (choice) => choice.message);
  if (Array.isArray(candidates)) return pendingChoices(candidates as unknown[], (one) => one.content);
  if (Array.isArray(output))
    return (output as unknown[]).map((item) => (keeper) => readMessage(item, 'assistant', keeper));
  if (Array.isArray(content))
    return [
      (keeper) => ({
        ...readMessage({ role: body.role, content }, 'assistant', keeper),
        detail: shortText(body.stop_reason),
      }),
    ];
  const vectors = vectorsOf(data ?? embeddings);
  if (vectors !== null) return [() => messageOf([{ kind: 'chip', label: 'Embeddings', detail: vectors }])];
  if (typeof text === 'string') return [(keeper) => readMessage(text, 'assistant', keeper)];
  return [];
}

function messageOf(parts: Part[]): Message {
  return { role: 'assistant', detail: null, parts };
}

function pendingChoices(choices: readonly unknown[], messageIn: (choice: JsonObject) => unknown): Pending[] {
  return choices.map((choice, index) => (keeper) => {
    const own = isObject(choice) ? choice : {};
    const message = readMessage(messageIn(own) ?? own.text ?? null, 'assistant', keeper);
    const number = choices.length > 1 ? `choice ${index + 1}` : null;
    const reason = shortText(own.finish_reason ?? own.finishReason);
    const role = message.role === 'model' ? 'assistant' : message.role;
    return { ...message, role, detail: [number, reason].filter(Boolean).join(', ') || null };
  });
}

/** @example vectorsOf([{ embedding: [0.1, 0.2] }]) // '1 vector of 2 numbers' */
function vectorsOf(data: unknown): string | null {
  if (!Array.isArray(data) || data.length === 0) return null;
  const [first] = data as unknown[];
  const vector = isObject(first) ? (first.embedding ?? first.values) : first;
  if (!Array.isArray(vector) && (typeof vector !== 'string' || !isObject(first))) return null;
  const size =
    typeof vector === 'string'
      ? Math.floor((vector.replace(/=+$/, '').length * 3) / 4 / BYTES_OF_NUMBER)
      : vector.length;
  return `${plural(data.length, 'vector')} of ${plural(size, 'number')}`;
}

/** Returns what went wrong; null: nothing that the body or the status tells. */
export function noticeOf(body: unknown, status: number): Notice | null {
  const own = isObject(body) ? body : {};
  const inner = own.error ?? (Array.isArray(own.errors) ? (own.errors as unknown[])[0] : null);
  if (status < 400 && (inner === null || inner === undefined)) return null;
  const said = [isObject(inner) ? inner.message : inner, own.message, own.detail, own.text];
  const text = said.find((one): one is string => typeof one === 'string' && one !== '');
  const title = status >= 400 ? `The call was answered with status ${status}` : 'The provider told an error';
  const kinds = isObject(inner) ? [inner.type, inner.code, inner.status].map(shortText) : [];
  const kind = [...new Set(kinds.filter((one) => one !== null))].join(', ');
  const detail = [text?.slice(0, LONGEST_NOTICE), kind === '' ? null : `(${kind})`].filter(Boolean).join(' ');
  return {
    title: status < 0 ? 'The client went away before the answer was whole' : title,
    detail: detail || null,
  };
}
