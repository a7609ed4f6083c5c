/**
 * Reads the completion in a response, for what a call costs, for what is kept of an omitted response, and for the cache.
 *
 * Most calls need none of it, and most responses are small and read at once, by whoever needs them. A large one would hold
 * up every other call meanwhile: it is read once, in turns of the event loop, before the end of its call.
 */
import { assembleInTurns, assembleStream, SKELETON_MEMBERS } from '#core/chat/mod.ts';
import { isObject, type JsonObject, MAX_BODY_DEPTH, type MemberSpan } from '#core/json/mod.ts';
import { decodeContent, decodeContentInThread } from '#platform/http-message/mod.ts';
import { inTurns, scanMembersInTurns } from '#platform/process/turns.ts';
import type { Outcome } from '../request/call.ts';

/** Up to these sizes a response is read at once: a stream in some 5 ms, JSON, packed or not, in less than one. */
const AT_ONCE_BYTES = { stream: 256 * 1024, json: 64 * 1024 };

/**
 * A packed response that unpacks to more is not read, as all of it is in memory meanwhile. Only the usage of the very
 * largest lists of embeddings stays unknown for that.
 */
const MAX_UNPACKED_BYTES = 32 * 1024 * 1024;

/** A longer member of a large response in JSON is not read: no usage or model comes near it. */
const LARGEST_MEMBER_BYTES = 64 * 1024;

/** Returns the completion of a response, put together when it was streamed; null when it is none. */
export function readCompletion(outcome: Outcome): JsonObject | null {
  const { completion, responseBody, contentEncoding, stream } = outcome;
  if (completion !== undefined) return completion;
  try {
    const text = decodeContent(responseBody, contentEncoding, MAX_UNPACKED_BYTES).toString('utf8');
    return stream ? assembleStream(text).completion : objectOrNull(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Returns whether a response has to be prepared by `withCompletion` before it is read. */
export function isReadAhead({ completion, responseBody, contentEncoding, stream }: Outcome): boolean {
  if (completion !== undefined) return false;
  return !isClear(contentEncoding) || responseBody.length > AT_ONCE_BYTES[stream ? 'stream' : 'json'];
}

/**
 * Returns an outcome with its completion; of a large response in JSON, with the members of it that are read of any. A
 * promise only of a response that is not read at once. Neither throws nor rejects.
 */
export function withCompletion(outcome: Outcome): Outcome | Promise<Outcome> {
  const small = readSmall(outcome);
  if (small !== undefined) return { ...outcome, completion: small };
  return readLarge(outcome).then(
    (completion) => ({ ...outcome, completion }),
    () => ({ ...outcome, completion: null }),
  );
}

/** Undefined: the response is torn, or too large to be read at once. */
function readSmall({ responseBody, contentEncoding, stream }: Outcome): JsonObject | null | undefined {
  if (stream || responseBody.length > AT_ONCE_BYTES.json) return undefined;
  try {
    return parse(decodeContent(responseBody, contentEncoding, AT_ONCE_BYTES.json));
  } catch {
    return undefined;
  }
}

async function readLarge({ responseBody, contentEncoding, stream }: Outcome): Promise<JsonObject | null> {
  const text = await decodeContentInThread(responseBody, contentEncoding, MAX_UNPACKED_BYTES);
  if (stream) return (await assembleInTurns([text], inTurns)).completion;
  return text.length <= AT_ONCE_BYTES.json ? parse(text) : await scanCompletion(text);
}

/**
 * Returns the members of a completion that are read: those of its skeleton, whether there is an error, and whether there
 * are choices, without which the prompt may be all that is counted.
 */
async function scanCompletion(text: Buffer): Promise<JsonObject | null> {
  const names = [...SKELETON_MEMBERS, 'choices', 'error'];
  const scanned = await scanMembersInTurns(text, { names, maxDepth: MAX_BODY_DEPTH });
  if (!scanned.isObject) return null;
  const completion: JsonObject = {};
  const spansOf = (name: string): readonly MemberSpan[] => scanned.spans.get(name)!;
  const written = ({ start, end }: MemberSpan) => text.toString('utf8', start, end);
  for (const name of SKELETON_MEMBERS) {
    const last = spansOf(name).at(-1);
    if (last !== undefined && last.end - last.start <= LARGEST_MEMBER_BYTES)
      completion[name] = JSON.parse(written(last));
  }
  const choices = spansOf('choices').at(-1);
  if (choices !== undefined && text[choices.start] === OPEN_BRACKET) completion.choices = [];
  // Where a name is repeated, readers differ in which value they take: any that is not null counts.
  const isNull = (span: MemberSpan) => span.end - span.start === NULL.length && written(span) === NULL;
  if (!spansOf('error').every(isNull)) completion.error = {};
  return completion;
}

const OPEN_BRACKET = 0x5b;
const NULL = 'null';

function parse(text: Buffer): JsonObject | null {
  return objectOrNull(JSON.parse(text.toString('utf8')));
}

function objectOrNull(value: unknown): JsonObject | null {
  return isObject(value) ? value : null;
}

/** Returns whether a body is not packed. */
export function isClear(contentEncoding: string | null): boolean {
  return contentEncoding === null || contentEncoding === 'identity';
}
