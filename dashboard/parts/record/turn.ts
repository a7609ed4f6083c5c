/** Turns of a session's conversation as bodies: what a request adds is shown as a request's own bodies are. Pure. */
import type { Turn } from '#core/contracts/session.ts';
import type { BodyValues } from './bodies.ts';

/** Returns the bodies of a conversation with the new messages alone. */
export function bodiesOfTurn({ messages, answer, status }: Turn): BodyValues {
  return { request: { messages }, response: responseOf(answer), status };
}

/** The Responses API answers with a list of items, all others with a message. */
function responseOf(answer: unknown): unknown {
  if (answer === null || answer === undefined) return {};
  return Array.isArray(answer) ? { output: answer } : { choices: [{ message: answer }] };
}
