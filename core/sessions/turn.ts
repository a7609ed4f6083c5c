/** The messages of a stored request and its answer. */
import { isObject, parseExactJson } from '../json/mod.ts';
import { answerOf, messagesOf } from '../messages/mod.ts';
import { type Shown, shownBy } from './conversation.ts';

/** The messages of a turn, its answer, and what both show to later turns. */
export type Said = { messages: unknown[]; answer: unknown; shown: Shown };

/**
 * Reads the bodies of a turn, in any dialect. Never throws, whatever they hold.
 * @param requestText JSON as it is stored; null or undefined: there is none
 */
export function saidIn(
  requestText: string | null | undefined,
  responseText: string | null | undefined,
): Said {
  const messages = messagesOf(parse(requestText));
  const response = parse(responseText);
  const answer = answerOf(response) ?? plainAnswer(response);
  return { messages, answer, shown: shownBy(messages, answer) };
}

/** Returns the answer of a body that was plain text. */
function plainAnswer(body: unknown): unknown {
  return isObject(body) && typeof body.text === 'string' ? { role: 'assistant', content: body.text } : null;
}

/** Returns the value of a stored body; null for one that is no JSON. One that is nested too deep to be compared is a text. */
function parse(text: string | null | undefined): unknown {
  if (text === null || text === undefined) return null;
  if (isTooDeep(text)) return { messages: [{ role: 'user', content: text }] };
  try {
    return parseExactJson(text);
  } catch {
    return null;
  }
}

/** Nesting that is compared: deeper than any real message, and well within the stack. */
const MAX_NESTING = 200;

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) depth -= 1;
    if (depth > MAX_NESTING) return true;
  }
  return false;
}
