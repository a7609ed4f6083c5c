/** Reading a JSON body: its type, its size, its text, in this order; each refusal is a sentence. */
import { AssayError } from '#core/errors.ts';
import { readBody } from '#core/http/mod.ts';
import { isDeeperThan, type MemberPath, readMembers } from './json-text.ts';

/** The largest body of the management API, but for the route that takes bodies of providers. */
const MAX_BODY_BYTES = 1024 * 1024;

/** Nesting above this makes a parser work for seconds on a body of allowed size; no real call comes near. */
const MAX_DEPTH = 100_000;

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

/** Where V8 says that the text stops being JSON, if it does. */
function describeSyntaxError(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : '';
  const position = /at position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return `The body is not valid JSON, from position ${position} on`;
  if (text.trim() === '') return 'The body is empty, but must be JSON';
  if (message.includes('end of JSON input'))
    return `The body is not valid JSON: it ends too early, at position ${text.length}`;
  return 'The body is not valid JSON';
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  checkContentType(request.headers);
  const bytes = await readBody(request, maxBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new AssayError('invalid_json', 'The body is not UTF-8', { cause });
  }
}

function parse(text: string): unknown {
  if (isDeeperThan(text, MAX_DEPTH)) {
    throw new AssayError('invalid_body', `The body is nested deeper than ${MAX_DEPTH} levels`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AssayError('invalid_json', describeSyntaxError(error, text));
  }
}

/** A body, parsed, and those of its members that were asked for as they are written; null where there is none. */
export type JsonBody = { value: unknown; written: (string | null)[] };

/**
 * The body of a request, of at most `maxBytes`. The members at `asWritten` may repeat names, as they are not ours to read.
 * @throws AssayError unsupported_media_type, body_too_large, invalid_json, invalid_body
 */
export async function readJsonBody(
  request: Request,
  { maxBytes, asWritten }: { maxBytes: number; asWritten: readonly MemberPath[] },
): Promise<JsonBody> {
  const text = await readText(request, maxBytes);
  const value = parse(text);
  const { repeated, written } = readMembers(text, asWritten);
  if (repeated !== null) {
    throw new AssayError(
      'invalid_json',
      `The body names ${repeated} twice in one object: only one of them could count`,
    );
  }
  return { value, written };
}

/** The body of a request, parsed: as `readJsonBody`, up to 1 MiB. */
export async function readJson(request: Request): Promise<unknown> {
  return (await readJsonBody(request, { maxBytes: MAX_BODY_BYTES, asWritten: [] })).value;
}
