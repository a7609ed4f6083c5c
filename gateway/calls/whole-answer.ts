/** Whether what a provider sent in one piece is an answer that a client can read. */
import { AssayError } from '#core/errors.ts';
import { decodeAnswer } from '#core/schema/content-encoding.ts';
import { encodingOf, isWithoutContent, type ProviderAnswer } from '../upstream/mod.ts';
import { canDecode } from './decoding-sink.ts';

/** Whether a body is JSON, as its header says or, for some servers forget that, as its text shows. */
export function isReadable({ headers }: ProviderAnswer, raw: Buffer): boolean {
  return raw.length > 0 && (isJsonType(headers['content-type']) || isJson(raw, headers['content-encoding']));
}

/** What is wrong with an answer whose status says success, or sends elsewhere; null: nothing. */
export function refusalOf(answer: ProviderAnswer, raw: Buffer, label: string): AssayError | null {
  const { status } = answer;
  if (status >= 300 || isWithoutContent(status) || !isReadable(answer, raw))
    return badAnswer(label, `answered ${status} with ${describeBody(answer, raw)} instead of an answer`);
  const encoding = encodingOf(answer);
  if (encoding !== null)
    return canDecode(encoding)
      ? null
      : badAnswer(
          label,
          `answered in the content-encoding "${encoding.slice(0, 40)}", which is not known here`,
        );
  return hasBothEnds(raw) ? null : badAnswer(label, `answered ${status} with JSON that breaks off`);
}

/** The text of a body; null when its encoding is not known or does not fit it. */
export function decodedText(raw: Buffer, encoding: string | undefined): string | null {
  try {
    return decodeAnswer(raw, encoding ?? null).toString('utf8');
  } catch {
    return null;
  }
}

function badAnswer(label: string, what: string): AssayError {
  return new AssayError('provider_bad_answer', `The provider ${label} ${what}`);
}

function isJsonType(contentType: string | undefined): boolean {
  return contentType !== undefined && /^application\/(?:[\w.+-]+\+)?json\b/i.test(contentType);
}

function isJson(raw: Buffer, encoding: string | undefined): boolean {
  const text = decodedText(raw, encoding);
  if (text === null) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function describeBody({ headers }: ProviderAnswer, raw: Buffer): string {
  return raw.length === 0 ? 'no body' : (headers['content-type'] ?? 'a body without a content-type');
}

const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const SPACE = 0x20;

/**
 * Whether JSON begins and ends as an object or a list does. To read all of it would cost a call more than everything else
 * that is done for it; one that broke off nearly always lacks its end.
 */
function hasBothEnds(raw: Buffer): boolean {
  let first = 0;
  let last = raw.length - 1;
  // Some providers send blank lines while they work, to keep the connection.
  while (first < last && raw[first]! <= SPACE) first += 1;
  while (last > first && raw[last]! <= SPACE) last -= 1;
  return (
    (raw[first] === OPEN_BRACE && raw[last] === CLOSE_BRACE && last > first) ||
    (raw[first] === OPEN_BRACKET && raw[last] === CLOSE_BRACKET && last > first)
  );
}
