import { type AssembledStream, assembleStream } from '#core/chat/mod.ts';

/** How ingest is to read an answer: the fields of a log entry's head that say so. */
export type AnswerForm = { stream: boolean; truncated: boolean; contentType: string | null };

/** Fields and comments of an event stream; no JSON begins like this. */
const EVENT_STREAM = /^\ufeff?\s*(?:data|event|id|retry)?:/;

/** The form of an answer that came as an object. */
export const JSON_ANSWER: AnswerForm = { stream: false, truncated: false, contentType: 'application/json' };

/**
 * The form of an answer that came as text. A stream is assembled in every dialect that the gateway relays; one of
 * another, or of which nothing can be assembled, is kept as the text that it is.
 */
export function formOfText(text: string): AnswerForm {
  if (!EVENT_STREAM.test(text)) return { stream: false, truncated: false, contentType: null };
  const assembled = assembleStream(text);
  const stream = isAnswer(assembled);
  return { stream, truncated: stream && !assembled.complete, contentType: 'text/event-stream' };
}

/** Whether it has a beginning or something of the answer, so that the text it came as says no more. */
function isAnswer({ dialect, completion }: AssembledStream): boolean {
  if (dialect === null) return false;
  const { id, choices, content, output } = completion;
  return (
    typeof id === 'string' ||
    [choices, content, output].some((list) => Array.isArray(list) && list.length > 0)
  );
}
