/** Reads an event stream that was logged; of a long one, in a thread of its own. */
import { type AssembledStream, assembleStream } from '#core/chat/mod.ts';

/** How ingest is to read an answer: the fields of a log entry's head that say so. */
export type AnswerForm = { stream: boolean; truncated: boolean; contentType: string | null };

/** The form of an answer that is an event stream. */
export function formOfStream(text: Uint8Array): AnswerForm {
  const assembled = assembleStream(Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString());
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
