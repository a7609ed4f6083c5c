import { assembleStream } from '#core/chat/mod.ts';
import { isObject } from '#core/json/mod.ts';

/** How ingest is to read an answer: the fields of a log entry's head that say so. */
export type AnswerForm = { stream: boolean; truncated: boolean; contentType: string | null };

/** Fields and comments of an event stream; no JSON begins like this. */
const EVENT_STREAM = /^\ufeff?\s*(?:data|event|id|retry)?:/;

/** The form of an answer that came as an object. */
export const JSON_ANSWER: AnswerForm = { stream: false, truncated: false, contentType: 'application/json' };

/**
 * The form of an answer that came as text. Only a stream of chat completion chunks can be assembled without loss; a
 * stream of another dialect is kept as the text that it is.
 */
export function formOfText(text: string): AnswerForm {
  if (!EVENT_STREAM.test(text)) return { stream: false, truncated: false, contentType: null };
  const { completion, complete } = assembleStream(text);
  const stream = isChat(completion.choices);
  return { stream, truncated: stream && !complete, contentType: 'text/event-stream' };
}

/** Chunks of the older completions carry `text` instead of a message's delta. */
function isChat(choices: unknown): boolean {
  return Array.isArray(choices) && choices.every((choice) => isObject(choice) && !('text' in choice));
}
