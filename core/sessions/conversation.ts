/**
 * A conversation out of requests that each send all that was said before: the messages of a body, and how many of them an
 * earlier request has shown already. In any dialect.
 */
import { hash } from 'node:crypto';
import { isObject, type JsonObject } from '../json/mod.ts';

/** Returns the messages of a request's body, as they are there; instructions beside them come first. */
export function messagesOf(body: unknown): unknown[] {
  if (!isObject(body)) return [];
  const { messages, contents, input, prompt } = body;
  const first = body.system ?? body.systemInstruction ?? body.instructions;
  const instructions = first === undefined || first === null ? [] : [{ role: 'system', content: first }];
  const said = [messages, contents, input, prompt].find((list) => list !== undefined && list !== null);
  if (said === undefined) return instructions;
  const list = Array.isArray(said) ? (said as unknown[]) : [said];
  return [...instructions, ...list.map((one) => (typeof one === 'string' ? fromUser(one) : one))];
}

const fromUser = (content: string) => ({ role: 'user', content });

/**
 * Returns the message of a response's body: of its first choice, or the list of its items where the dialect has those; null when
 * there is none.
 */
export function answerOf(body: unknown): unknown {
  if (!isObject(body)) return null;
  const { choices, candidates, content, output } = body;
  if (Array.isArray(choices)) return choiceMessage(choices as unknown[]);
  if (Array.isArray(candidates)) {
    const [candidate] = candidates as unknown[];
    return isObject(candidate) ? (candidate.content ?? null) : null;
  }
  if (Array.isArray(output)) return output;
  return Array.isArray(content) ? { role: body.role ?? 'assistant', content } : null;
}

function choiceMessage(choices: readonly unknown[]): unknown {
  const choice = choices.find((one) => isObject(one) && one.index === 0) ?? choices[0];
  if (!isObject(choice)) return null;
  if (isObject(choice.message)) return choice.message;
  return typeof choice.text === 'string' ? { role: 'assistant', content: choice.text } : null;
}

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
