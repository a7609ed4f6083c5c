/** Short texts of items, for lists. Pure. */

/** UTF-16 code units of a preview. */
const LONGEST = 240;

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return content === undefined ? '' : JSON.stringify(content);
  return content
    .map((part: { text?: unknown; type?: unknown } | null) =>
      typeof part?.text === 'string' ? part.text : `[${String(part?.type)}]`,
    )
    .join(' ');
}

/** Returns any JSON value as a short text; a text is shown without quotes. */
export function valuePreview(value: unknown): string {
  if (value === undefined) return '';
  return cut(typeof value === 'string' ? value : JSON.stringify(value));
}

type Message = { role?: unknown; content?: unknown };

/** Returns what a request asks: its last message of a user, else its last message, else its inputs. */
export function requestPreview({ messages, inputs }: { messages?: unknown[]; inputs?: object }): string {
  const list = (messages ?? []) as Message[];
  const last = list.findLast(({ role }) => role === 'user') ?? list.at(-1);
  return last === undefined ? valuePreview(inputs) : cut(textOf(last.content));
}
