/** The body of a call, and what the gateway must know of it. */
import { AssayError } from '#core/contracts/errors.ts';
import {
  isObject,
  JsonFault,
  type JsonObject,
  MAX_BODY_DEPTH,
  type ScannedMembers,
  type ScanOptions,
  scanMembers,
} from '#core/json/mod.ts';
import type { BodyRoom, ServerRequest } from '#platform/http-server/mod.ts';
import { scanMembersInTurns } from '#platform/process/turns.ts';
import type { ApiEndpoint } from '../endpoints/endpoint.ts';
import { decodeBody } from './decode-body.ts';

export type RequestBody = {
  /** As the client sent it, after content-encoding and without a byte order mark. */
  readonly bytes: Buffer;
  readonly model: string;
  readonly stream: boolean;
  /** The user that the body names, used when no header names one. */
  readonly user: string | null;
  readonly streamOptions: JsonObject | null;
  /** True when it has a member of that name at all. */
  readonly hasStreamOptions: boolean;
  /** The most tokens that the completion may have; null: the model's own limit. */
  readonly maxTokens: number | null;
  /** The places of the members that a provider may be sent otherwise. In a small body they are looked for when needed. */
  readonly scanned: ScannedMembers | null;
  /** The stored prompt that the body was expanded from; null: none. */
  readonly prompt: CallPrompt | null;
};

/** The stored prompt of a call, as its record has it. */
export type CallPrompt = {
  readonly promptId: string;
  /** `major.minor` */
  readonly version: string;
  /** The prompt's variables: JSON of an object, as the client sent it. */
  readonly inputs: string;
};

/** A body that names a stored prompt, which must be expanded before the rest of it is read. */
export type PromptedBody = { readonly promptedBytes: Buffer };

/** Up to here `JSON.parse` is quicker than the scanner on ordinary bodies. Of 50 KB it takes twice as long, and memory. */
const LARGEST_PARSED_BYTES = 8 * 1024;
/**
 * Up to here the scanner takes a millisecond or two on the worst bodies. Beyond, a body is scanned in slices: of 32 MiB
 * `JSON.parse` makes ten million arrays, or works for seconds without a pause.
 */
const LARGEST_SCANNED_AT_ONCE_BYTES = 64 * 1024;

/** Members whose value the gateway reads. Each is short in any real call: the longest, `metadata`, is some kilobytes. */
const FIELDS = [
  'model',
  'stream',
  'stream_options',
  'user',
  'safety_identifier',
  'metadata',
  'max_completion_tokens',
  'max_tokens',
  'max_output_tokens',
] as const;
const MAX_FIELD_BYTES = 64 * 1024;
/** The member that names a stored prompt. Without it, bodies pass through, whatever else is in them. */
const PROMPT = 'prompt_id';
const SCANNED = [...FIELDS, PROMPT];

/** A larger number is a way to say: without limit. */
const LARGEST_MAX_TOKENS = 1_000_000;

/**
 * Reads the body of a request.
 * @param encoding its content-encoding; null: none
 * @param bounds the largest body, and where a large one waits for its room
 * @throws AssayError body_too_large, bodies_busy, unsupported_media_type, invalid_json, invalid_body or client_closed_request
 */
export async function readRequestBody(
  request: Pick<ServerRequest, 'readBody' | 'shrinkRoom'>,
  encoding: string | null,
  endpoint: ApiEndpoint,
  { maxBytes, slots, owner }: { maxBytes: number } & Omit<BodyRoom, 'isPacked'>,
): Promise<RequestBody | PromptedBody> {
  const isPlain = encoding === null || encoding.trim().toLowerCase() === 'identity';
  let bytes = await request.readBody(maxBytes, { slots, owner, isPacked: !isPlain });
  if (!isPlain) {
    bytes = await decodeBody(bytes, encoding, maxBytes);
    request.shrinkRoom(bytes.length);
  }
  const body = parseBody(bytes, endpoint);
  return body instanceof Promise ? await body : body;
}

/**
 * Parses a body that names no stored prompt, without holding up the event loop however large it is. Returns a promise only
 * for a large one.
 * @throws AssayError invalid_json or invalid_body, naming the field
 */
export function parseRequestBody(
  received: Buffer,
  endpoint: ApiEndpoint,
): RequestBody | Promise<RequestBody> {
  const body = parseBody(received, endpoint);
  return body instanceof Promise ? body.then(withoutPrompt) : withoutPrompt(body);
}

function withoutPrompt(body: RequestBody | PromptedBody): RequestBody {
  if ('promptedBytes' in body) throw new Error('the body names a stored prompt');
  return body;
}

function parseBody(
  received: Buffer,
  endpoint: ApiEndpoint,
): RequestBody | PromptedBody | Promise<RequestBody | PromptedBody> {
  const bytes = withoutByteOrderMark(received);
  if (bytes.length <= LARGEST_PARSED_BYTES) return requestBody(bytes, parse(bytes), null, endpoint);
  const options = { names: SCANNED, maxDepth: MAX_BODY_DEPTH };
  if (bytes.length <= LARGEST_SCANNED_AT_ONCE_BYTES)
    return scannedBody(bytes, scanAtOnce(bytes, options), endpoint);
  return scanMembersInTurns(bytes, options).then((scanned) => scannedBody(bytes, scanned, endpoint), refuse);
}

function scanAtOnce(bytes: Buffer, options: ScanOptions): ScannedMembers {
  try {
    return scanMembers(bytes, options);
  } catch (fault) {
    return refuse(fault);
  }
}

function scannedBody(
  bytes: Buffer,
  scanned: ScannedMembers,
  endpoint: ApiEndpoint,
): RequestBody | PromptedBody {
  if (scanned.isObject && scanned.spans.get(PROMPT)!.length > 0) return { promptedBytes: bytes };
  return requestBody(bytes, scanned.isObject ? fieldsOf(bytes, scanned) : null, scanned, endpoint);
}

/**
 * Finds members of a body that is JSON of an object. Returns a promise only for a large one.
 * @throws AssayError invalid_body when one of them is repeated too often
 */
export function findMembers(
  bytes: Buffer,
  names: readonly string[],
): ScannedMembers | Promise<ScannedMembers> {
  const options = { names, maxDepth: MAX_BODY_DEPTH, isValid: true };
  if (bytes.length > LARGEST_SCANNED_AT_ONCE_BYTES) return scanMembersInTurns(bytes, options).catch(refuse);
  return scanAtOnce(bytes, options);
}

/**
 * Returns the places of the members that a provider may be sent otherwise, and how large and deep the body is.
 * @throws AssayError invalid_body when one of them is repeated too often
 */
export function membersOf({ scanned, bytes }: RequestBody): ScannedMembers {
  return scanned ?? scanAtOnce(bytes, { names: FIELDS, maxDepth: MAX_BODY_DEPTH, isValid: true });
}

/** RFC 8259 allows parsers to ignore one. Providers mostly do not. */
function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    const where = /position (\d+)/.exec((cause as Error).message)?.[1];
    throw notJson(where === undefined ? '' : ` (at character ${where})`, cause);
  }
}

function notJson(where: string, cause: unknown): AssayError {
  return new AssayError('invalid_json', `The request body is not valid JSON${where}`, { cause });
}

function refuse(fault: unknown): never {
  if (!(fault instanceof JsonFault)) throw fault;
  if (fault.reason === 'depth')
    throw new AssayError('invalid_body', `The request body is nested deeper than ${MAX_BODY_DEPTH} levels`);
  if (fault.reason === 'repeats')
    throw new AssayError('invalid_body', 'The request body repeats a field more than 100 times');
  throw notJson(fault.at === null ? '' : ` (at byte ${fault.at})`, fault);
}

/** Returns an object of the fields that the gateway reads. Of a repeated name the last counts, as for `JSON.parse`. */
function fieldsOf(bytes: Buffer, { spans }: ScannedMembers): JsonObject {
  const fields: JsonObject = {};
  for (const [name, members] of spans) {
    const last = members.at(-1);
    if (last === undefined) continue;
    const size = members.reduce((sum, { start, end }) => sum + end - start, 0);
    if (size > MAX_FIELD_BYTES)
      throw new AssayError('invalid_body', `${name} may be at most ${MAX_FIELD_BYTES} bytes long`);
    fields[name] = JSON.parse(bytes.toString('utf8', last.start, last.end));
  }
  return fields;
}

/** @param body the body, or an object of FIELDS alone */
function requestBody(
  bytes: Buffer,
  body: unknown,
  scanned: ScannedMembers | null,
  endpoint: ApiEndpoint,
): RequestBody | PromptedBody {
  if (!isObject(body)) throw new AssayError('invalid_body', 'The request body must be a JSON object');
  if (body[PROMPT] !== undefined) return { promptedBytes: bytes };
  const { stream, stream_options: streamOptions } = body;
  if (endpoint.canStream && stream !== undefined && stream !== null && typeof stream !== 'boolean')
    throw new AssayError('invalid_body', 'stream must be true or false');
  return {
    bytes,
    model: readModel(body.model, endpoint.defaultModel),
    stream: endpoint.canStream && stream === true,
    user: endpoint.userOf(body),
    streamOptions: isObject(streamOptions) ? streamOptions : null,
    hasStreamOptions: streamOptions !== undefined,
    maxTokens:
      tokensOf(body.max_completion_tokens) ?? tokensOf(body.max_tokens) ?? tokensOf(body.max_output_tokens),
    scanned,
    prompt: null,
  };
}

function readModel(model: unknown, defaultModel: string | null): string {
  if (typeof model === 'string' && model !== '') return model;
  if (model !== undefined && (model !== null || defaultModel === null))
    throw new AssayError('invalid_body', 'model must be a string that is not empty');
  if (defaultModel === null)
    throw new AssayError('invalid_body', 'model is required: the id of the model to use');
  return defaultModel;
}

function tokensOf(value: unknown): number | null {
  return typeof value === 'number' && value > 0 && value <= LARGEST_MAX_TOKENS ? value : null;
}
