/**
 * Finds out what the body of a response really is: an error that a provider sends under the status of a success, within a
 * stream or in place of a completion; a page that no client can read; or what it should be.
 */
import { AssayError } from '#core/contracts/errors.ts';
import { isObject, isSpace, type JsonObject } from '#core/json/mod.ts';
import {
  encodingOf,
  isEventStream,
  isWithoutContent,
  type ProviderResponse,
} from '#platform/http-client/mod.ts';
import { canDecode, decodeContent, MAX_DECODED_BYTES } from '#platform/http-message/mod.ts';
import { errorStatus } from '../dialects/mod.ts';
import { TextEnds, unpack } from './unpack.ts';

/** Members that completions of any dialect have, and error payloads do not. */
const OF_COMPLETIONS = ['choices', 'content', 'output', 'data', 'results'];

/** An error is short, and shorter still when it is packed; a packed body must be unpacked to be told from a completion. */
const LONGEST_BYTES = { plain: 64 * 1024, packed: 1_024 };

/** Returns how long an error payload can be. */
export function maxErrorBytes(encoding: string | null): number {
  return encoding === null ? LONGEST_BYTES.plain : LONGEST_BYTES.packed;
}

/** Returns the status of the error payload that a body in one piece is; null: it is none. */
export function detectErrorPayload(body: Buffer, encoding: string | null): number | null {
  if (body.length > maxErrorBytes(encoding)) return null;
  const answer = readObject(body, encoding);
  const error = answer?.error ?? '';
  if (answer === null || error === '') return null;
  return errorStatus(isObject(error) ? error : { type: answer.error_type });
}

/** Returns the object that the body is; null: it is none, or a completion. */
function readObject(body: Buffer, encoding: string | null): JsonObject | null {
  if (encoding === null && !mayHoldError(body)) return null;
  try {
    const value: unknown = JSON.parse(decodeContent(body, encoding, LONGEST_BYTES.plain).toString('utf8'));
    return isObject(value) && !OF_COMPLETIONS.some((name) => name in value) ? value : null;
  } catch {
    return null;
  }
}

const ERROR_MEMBER = Buffer.from('"error"');
const [SPACE, COLON, N] = [0x20, 0x3a, 0x6e];

/**
 * Returns whether an event may hold an error: `"error"` is followed by something that is not null. Looks at bytes, and errs on the
 * side of yes. The text that a model writes has its quotes escaped, so that it does not count.
 */
export function mayHoldError(frame: Buffer): boolean {
  for (let at = frame.indexOf(ERROR_MEMBER); at !== -1; at = frame.indexOf(ERROR_MEMBER, at + 1)) {
    let value = at + ERROR_MEMBER.length;
    while (frame[value] === SPACE || frame[value] === COLON) value += 1;
    if (frame[value] !== N) return true;
  }
  return false;
}

/**
 * Returns the status that a response counts as: its own, or that of the error payload which is all that it holds. Some
 * providers send those when a model failed that had begun to work: the call may have another outcome elsewhere, and this
 * must be known before the client gets any of it. So the response is held for as long as it may be such an error.
 */
export function errorPayloadStatus(
  response: ProviderResponse,
  signal: AbortSignal,
): number | Promise<number> {
  const { status, body } = response;
  if (status < 200 || status > 299 || isEventStream(response)) return status;
  const encoding = encodingOf(response);
  const { held } = body;
  // Nearly every response: its beginning came with its head, and is that of no error.
  if (encoding === null && !isBlank(held) && !mayHoldError(held)) return status;
  return heldStatus(response, encoding, signal);
}

/** Some providers send blank lines while their model works, and then its answer or an error. */
function isBlank(bytes: Buffer): boolean {
  return bytes.every(isSpace);
}

async function heldStatus(
  { status, body }: ProviderResponse,
  encoding: string | null,
  signal: AbortSignal,
): Promise<number> {
  const maxBytes = maxErrorBytes(encoding);
  let hasBegun = false;
  const gathered = await body.gather((chunk, heldBytes) => {
    const isBeginning = !hasBegun && !isBlank(chunk);
    hasBegun ||= isBeginning;
    const isOrdinary = isBeginning && encoding === null && !mayHoldError(chunk);
    return isOrdinary || heldBytes > maxBytes;
  }, signal);
  return gathered === 'whole' ? (detectErrorPayload(body.held, encoding) ?? status) : status;
}

/** The bytes of a body without a JSON content type that are read to learn whether it is JSON all the same. */
const READ_BYTES = maxErrorBytes(null);

/**
 * Returns what is wrong with a response whose status is a success or a redirection; null: nothing. A packed body is
 * unpacked for that, off the event loop and without being kept: only its end shows whether it is torn.
 */
export function findInvalidBody(
  response: ProviderResponse,
  raw: Buffer,
  label: string,
): AssayError | null | Promise<AssayError | null> {
  const { status } = response;
  if (status >= 300 || isWithoutContent(status) || raw.length === 0) return noAnswer(response, raw, label);
  const encoding = encodingOf(response);
  if (encoding === null) {
    const ends = new TextEnds();
    ends.push(raw);
    return findInvalidText(response, raw, ends, label);
  }
  if (!canDecode(encoding)) {
    const quoted = encoding.slice(0, LONGEST_ENCODING);
    return badAnswer(label, `answered in the content-encoding "${quoted}", which is not known here`);
  }
  return unpack(raw, encoding, { keptBytes: READ_BYTES + 1, maxBytes: MAX_DECODED_BYTES }).then(
    ({ beginning, ends, state }) => {
      if (state === 'whole') return findInvalidText(response, beginning, ends, label);
      const rule = state === 'torn' ? `is not valid ${encoding}` : `has more than ${MAX_DECODED_BYTES} bytes`;
      return badAnswer(label, `answered ${status} with a body that ${rule}`);
    },
  );
}

const LONGEST_ENCODING = 40;

/** @param beginning all of it, or more of it than is read to learn whether it is JSON */
function findInvalidText(
  response: ProviderResponse,
  beginning: Buffer,
  ends: TextEnds,
  label: string,
): AssayError | null {
  if (isJsonType(response.headers['content-type']))
    return ends.areOfJson ? null : badAnswer(label, `answered ${response.status} with JSON that breaks off`);
  const isReadable = ends.areOfJson && (beginning.length > READ_BYTES || isJson(beginning));
  return isReadable ? null : noAnswer(response, beginning, label);
}

/**
 * Returns the text of the page that came in place of an error; null: the body is one that a client can read. Only the
 * beginning of a page is unpacked.
 */
export function pageOf(response: ProviderResponse, raw: Buffer): string | null | Promise<string | null> {
  if (raw.length > 0 && isJsonType(response.headers['content-type'])) return null;
  const encoding = encodingOf(response);
  if (encoding === null) return pageText(raw.subarray(0, READ_BYTES), raw.length <= READ_BYTES);
  if (!canDecode(encoding)) return '';
  return unpack(raw, encoding, { keptBytes: READ_BYTES, maxBytes: READ_BYTES }).then(({ beginning, state }) =>
    pageText(beginning, state === 'whole'),
  );
}

function pageText(beginning: Buffer, isAll: boolean): string | null {
  return isAll && isJson(beginning) ? null : beginning.toString('utf8').trim();
}

function noAnswer({ status, headers }: ProviderResponse, raw: Buffer, label: string): AssayError {
  const body = raw.length === 0 ? 'no body' : (headers['content-type'] ?? 'a body without a content-type');
  return badAnswer(label, `answered ${status} with ${body} instead of an answer`);
}

function badAnswer(label: string, what: string): AssayError {
  return new AssayError('provider_bad_answer', `The provider ${label} ${what}`);
}

function isJsonType(contentType: string | undefined): boolean {
  return contentType !== undefined && /^application\/(?:[\w.+-]+\+)?json\b/i.test(contentType);
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}
