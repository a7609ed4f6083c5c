/** Reads an event stream that was logged; of a long one, in a thread of its own. */
import { type AssembledStream, assembleStream } from '#core/chat/mod.ts';

/** The fields of a log entry's head that tell ingest how to read the logged response. */
export type AnswerForm = { stream: boolean; truncated: boolean; contentType: string | null };

/** Returns the form of a response that is an event stream. */
export function formOfStream(text: Uint8Array): AnswerForm {
  const assembled = assembleStream(Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString());
  const stream = isAnswer(assembled);
  return { stream, truncated: stream && !assembled.complete, contentType: 'text/event-stream' };
}

/** Returns whether an assembled stream holds an id or any content, so that its text adds nothing to it. */
function isAnswer({ dialect, completion }: AssembledStream): boolean {
  if (dialect === null) return false;
  const { id, choices, content, output } = completion;
  return (
    typeof id === 'string' ||
    [choices, content, output].some((list) => Array.isArray(list) && list.length > 0)
  );
}
