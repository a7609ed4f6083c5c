/** Checks whether a response in one piece is one that a client can read. */
import { AssayError } from '#core/contracts/errors.ts';
import { encodingOf, isWithoutContent, type ProviderResponse } from '#platform/http-client/mod.ts';
import { canDecode, MAX_DECODED_BYTES } from '#platform/http-message/mod.ts';
import { maxErrorBytes } from './error-in-success.ts';
import { TextEnds, unpack } from './unpack.ts';

/** How much of a body without a JSON content type is read to learn whether it is JSON all the same. */
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
