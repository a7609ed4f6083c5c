/** Reads a JSON body: checks its type, its size and its text, in this order. */
import { isUtf8 } from 'node:buffer';
import { AssayError } from '#core/contracts/errors.ts';
import { type MemberPath, readMembers } from '#core/json/mod.ts';
import { readBody } from '#platform/http-server/mod.ts';
import { outlineJson } from './json-outline.ts';

/** The largest body of the management API, except of routes that say otherwise. */
const MAX_BODY_BYTES = 1024 * 1024;

/** Up to this size a body is parsed whole, which takes a few milliseconds at worst. */
const LARGEST_PARSED_BYTES = 64 * 1024;

/** `JSON.parse` takes some 15 ms for this many values; no query, evaluator or property list holds nearly as many. */
const MAX_VALUES = 50_000;
/** Members that are parsed are parsed a second time with exact numbers, which takes up to 2 µs a value. */
const MAX_VALUES_PARSED_TWICE = 20_000;

const JSON_TYPE = /^application\/(?:[\w!#$&^.+-]+\+)?json$/;

/** @throws AssayError unsupported_media_type */
function checkContentType(headers: Headers): void {
  const [type = '', ...parameters] = (headers.get('content-type') ?? '').split(';');
  if (!JSON_TYPE.test(type.trim().toLowerCase())) {
    const given = type.trim() === '' ? 'there is none' : `it is "${type.trim().slice(0, 80)}"`;
    throw new AssayError('unsupported_media_type', `The content-type must be application/json, but ${given}`);
  }
  for (const parameter of parameters) {
    const match = /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/i.exec(parameter);
    if (match !== null && !/^utf-?8$/i.test(match[1] ?? '')) {
      throw new AssayError(
        'unsupported_media_type',
        `The charset must be utf-8, but it is "${match[1]?.slice(0, 40)}"`,
      );
    }
  }
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding.trim().toLowerCase() !== 'identity') {
    throw new AssayError(
      'unsupported_media_type',
      `The body must be sent as it is, but its content-encoding is "${encoding.slice(0, 40)}"`,
    );
  }
}

/** Returns the sentence for a text that is not JSON, with the position when V8 reports one. */
function describeSyntaxError(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : '';
  const position = /at position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return `The body is not valid JSON, from position ${position} on`;
  if (text.trim() === '') return 'The body is empty, but must be JSON';
  if (message.includes('end of JSON input'))
    return `The body is not valid JSON: it ends too early, at position ${text.length}`;
  return 'The body is not valid JSON';
}

/** Reads a body without its byte order mark, which RFC 8259 allows parsers to ignore. */
async function readBytes(request: Request, maxBytes: number): Promise<Buffer> {
  checkContentType(request.headers);
  const bytes = await readBody(request, maxBytes);
  if (!isUtf8(bytes)) throw new AssayError('invalid_json', 'The body is not UTF-8');
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** A parsed body, and the text of the requested members; null where there is none. */
export type JsonBody = {
  /** In a large body, each requested member is replaced by an empty value of its kind. */
  value: unknown;
  written: (Buffer | null)[];
};

export type JsonBodyOptions = {
  /** The largest body. Default: 1 MiB. */
  maxBytes?: number;
  /** The members whose text is wanted as well. Default: none. */
  asWritten?: readonly MemberPath[];
  /** True: these members are parsed, and repeat no names, like the rest. Default: false. */
  parsesAll?: boolean;
};

/**
 * Reads the body of a request. Unless `parsesAll`, the members at `asWritten` may repeat names, because the API does not read
 * them, and have any size. The rest of a large body is limited, so that reading it does not hold up the event loop.
 * @throws AssayError unsupported_media_type, body_too_large, invalid_json, invalid_body
 */
export async function readJsonBody(
  request: Request,
  { maxBytes = MAX_BODY_BYTES, asWritten = [], parsesAll = false }: JsonBodyOptions = {},
): Promise<JsonBody> {
  const bytes = await readBytes(request, maxBytes);
  const apart = parsesAll ? [] : asWritten;
  if (bytes.length > LARGEST_PARSED_BYTES) {
    const maxValues = parsesAll ? MAX_VALUES_PARSED_TWICE : MAX_VALUES;
    const { rest, written } = await outlineJson(bytes, apart, maxValues);
    if (!parsesAll) return { value: parse(rest.toString(), []).value, written };
  }
  const text = bytes.toString();
  const { value, written } = parse(text, apart);
  const texts = parsesAll ? readMembers(text, asWritten).written : written;
  return { value, written: texts.map((one) => (one === null ? null : Buffer.from(one))) };
}

function parse(text: string, asWritten: readonly MemberPath[]) {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new AssayError('invalid_json', describeSyntaxError(error, text));
  }
  const { repeated, written } = readMembers(text, asWritten);
  if (repeated === null) return { value, written };
  throw new AssayError(
    'invalid_json',
    `The body names ${repeated} twice in one object: only one of them could count`,
  );
}
