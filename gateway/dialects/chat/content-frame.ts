import { readFrameData } from '#core/chat/mod.ts';
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';
import { holdsAt, type RawDelta, stringEnd } from '../raw-delta.ts';

/**
 * A frame's bytes around the text of its content. Those of the next chunk are the same, with every provider, except for the
 * padding that OpenAI adds so that an event's length does not reveal the text's.
 */
export type ContentFrame = {
  head: Buffer;
  tail: Buffer;
  /** The bytes after the padding; null: no padding. */
  end: Buffer | null;
};

const CONTENT = '"content":';
const PADDING = '"obfuscation":';
const PROBE = '\u0001probe\u0001';

/**
 * Learns the bytes around the content of a chunk that holds only content. They are verified: the chunk is parsed again with
 * another text between them.
 * @param frame the chunk's frame
 */
export function learnContentFrame(chunk: JsonObject, content: string, frame: string): ContentFrame | null {
  const found = frame.indexOf(`${CONTENT}${JSON.stringify(content)}`);
  if (found === -1 || !hasContentOnly(chunk)) return null;
  const start = found + CONTENT.length;
  const head = frame.slice(0, start);
  const rest = frame.slice(start + JSON.stringify(content).length);
  const probe = JSON.stringify(PROBE);
  const padding = textOrNull(chunk.obfuscation);
  if (padding === null)
    return readContent(`${head}${probe}${rest}`) === PROBE
      ? { head: Buffer.from(head), tail: Buffer.from(rest), end: null }
      : null;
  const [tail = '', end] = rest.split(`${PADDING}${JSON.stringify(padding)}`);
  if (end === undefined || readContent(`${head}${probe}${tail}${PADDING}${probe}${end}`) !== PROBE)
    return null;
  return { head: Buffer.from(head), tail: Buffer.from(`${tail}${PADDING}`), end: Buffer.from(end) };
}

/** Returns the delta in `frame`, when only its content differs from the learned frame; otherwise null. */
export function readContentFrame({ head, tail, end }: ContentFrame, frame: Buffer): RawDelta | null {
  if (!holdsAt(frame, head, 0)) return null;
  const textEnd = stringEnd(frame, head.length);
  if (textEnd === -1 || !holdsAt(frame, tail, textEnd)) return null;
  let at = textEnd + tail.length;
  if (end !== null) {
    at = stringEnd(frame, at);
    if (at === -1 || !holdsAt(frame, end, at)) return null;
    at += end.length;
  }
  return at === frame.length ? { type: 'text', call: 0, start: head.length, end: textEnd } : null;
}

function hasContentOnly({ choices, usage, error }: JsonObject): boolean {
  const [choice, ...others] = Array.isArray(choices) ? choices : [];
  if (others.length > 0 || !isObject(choice) || !isObject(choice.delta)) return false;
  if ((usage ?? error ?? choice.finish_reason ?? null) !== null) return false;
  return Object.entries(choice.delta).every(
    ([name, value]) => value === null || name === 'content' || name === 'role',
  );
}

function readContent(frame: string): unknown {
  const chunk: unknown = JSON.parse(readFrameData(frame) ?? 'null');
  const [choice] = isObject(chunk) && Array.isArray(chunk.choices) ? chunk.choices : [];
  return isObject(choice) && isObject(choice.delta) ? choice.delta.content : null;
}
