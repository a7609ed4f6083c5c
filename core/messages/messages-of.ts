/** The messages in bodies of any dialect, as they are there. */
import { isObject } from '../json-values/mod.ts';

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
