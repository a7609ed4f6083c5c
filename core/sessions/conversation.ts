/**
 * A conversation out of requests that each send all that was said before: how many messages of a body an earlier request has
 * shown already. In any dialect.
 */
import { hash } from 'node:crypto';
import { isObject, type JsonObject } from '../json/mod.ts';

/** What an earlier turn has shown: a hash of each beginning of its messages, the answer among them. */
export type Shown = ReadonlySet<string>;

/** Returns what a turn shows, for later ones. */
export function shownBy(messages: readonly unknown[], answer: unknown): Shown {
  const answers = Array.isArray(answer) ? (answer as unknown[]) : answer === null ? [] : [answer];
  return new Set(beginningsOf([...messages, ...answers]));
}

/** Returns how many messages, from the first on, one of these earlier turns has shown. */
export function countSeen(messages: readonly unknown[], earlier: readonly Shown[]): number {
  const beginnings = beginningsOf(messages);
  for (let count = beginnings.length; count > 0; count -= 1) {
    if (earlier.some((shown) => shown.has(beginnings[count - 1]!))) return count;
  }
  return 0;
}

function beginningsOf(messages: readonly unknown[]): string[] {
  let before = '';
  return messages.map((message) => {
    before = hash('sha256', `${before}${JSON.stringify(essenceOf(message))}`, 'base64');
    return before;
  });
}

/**
 * Members that an answer has and the same message, sent back, usually has not. Members that are null or an empty list are left
 * out as well.
 */
const INCIDENTAL: ReadonlySet<string> = new Set([
  'annotations',
  'audio',
  'cache_control',
  'id',
  'index',
  'logprobs',
  'reasoning',
  'reasoning_content',
  'refusal',
  'status',
]);

/** Returns what makes a message the same as another, with names in order. A single text part is its text. */
function essenceOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    const parts = (value as unknown[]).map(essenceOf);
    return parts.length === 1 && typeof parts[0] === 'string' ? parts[0] : parts;
  }
  if (!isObject(value)) return value;
  if (isTextPart(value)) return value.text;
  const isToolCall = typeof value.type === 'string' && value.type !== 'message';
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => !isIncidental(name, member) || (isToolCall && name === 'id'))
      .filter(([name, member]) => !(name === 'type' && member === 'message'))
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, essenceOf(member)]),
  );
}

function isTextPart({ type, text }: JsonObject): boolean {
  return typeof text === 'string' && typeof type === 'string' && type.endsWith('text');
}

function isIncidental(name: string, member: unknown): boolean {
  return INCIDENTAL.has(name) || member === null || (Array.isArray(member) && member.length === 0);
}
