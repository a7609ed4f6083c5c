/** Error payloads: errors that providers send under the status of a success, in the middle of a stream or in place of a completion. */
import { isObject, type JsonObject } from '#core/json/mod.ts';
import { encodingOf, isEventStream, type ProviderResponse } from '#platform/http-client/mod.ts';
import { decodeContent } from '#platform/http-message/mod.ts';
import { statusOfErrorType } from '../providers/anthropic/mod.ts';

/**
 * The status that an error in the middle of a stream would have had as an answer, by what providers say of it: a number
 * (OpenRouter), or the error's type. Null: there is none.
 */
export function errorStatus(error: unknown): number | null {
  if (!isObject(error)) return null;
  for (const told of [error.code, error.status]) {
    const status = Number(told);
    if (Number.isInteger(status) && status >= 400 && status <= 599) return status;
  }
  return statusOfErrorType(typeof error.type === 'string' ? error.type : '');
}

/** What answers of any dialect have, of which an error in their place has none. */
const OF_ANSWERS = ['choices', 'content', 'output', 'data', 'results'];

/** An error is short, and shorter still when it is packed; whatever is packed must be unpacked to be told from an answer. */
const LONGEST_BYTES = { plain: 64 * 1024, packed: 1_024 };

/** How long an answer can be that is an error. */
export function maxErrorBytes(encoding: string | null): number {
  return encoding === null ? LONGEST_BYTES.plain : LONGEST_BYTES.packed;
}

/** The same for an answer in one piece that is an error and nothing else, although its status is a success's. */
export function detectErrorPayload(body: Buffer, encoding: string | null): number | null {
  if (body.length > maxErrorBytes(encoding)) return null;
  const error = readObject(body, encoding)?.error ?? '';
  return error === '' ? null : errorStatus(isObject(error) ? error : {});
}

/** Null: it is none, or an answer. */
function readObject(body: Buffer, encoding: string | null): JsonObject | null {
  if (encoding === null && !mayHoldError(body)) return null;
  try {
    const value: unknown = JSON.parse(decodeContent(body, encoding, LONGEST_BYTES.plain).toString('utf8'));
    return isObject(value) && !OF_ANSWERS.some((name) => name in value) ? value : null;
  } catch {
    return null;
  }
}

const ERROR_MEMBER = Buffer.from('"error"');
const [SPACE, COLON, N] = [0x20, 0x3a, 0x6e];

/**
 * Whether an event may tell of one: something stands behind `"error"` that is not null. Looks at bytes, and errs on the
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
  if (held.length > 0 && encoding === null && !mayHoldError(held)) return status;
  return heldStatus(response, encoding, signal);
}

async function heldStatus(
  { status, body }: ProviderResponse,
  encoding: string | null,
  signal: AbortSignal,
): Promise<number> {
  const maxBytes = maxErrorBytes(encoding);
  let isFirst = true;
  const gathered = await body.gather((chunk, heldBytes) => {
    const isOrdinary = isFirst && encoding === null && !mayHoldError(chunk);
    isFirst = false;
    return isOrdinary || heldBytes > maxBytes;
  }, signal);
  return gathered === 'whole' ? (detectErrorPayload(body.held, encoding) ?? status) : status;
}
