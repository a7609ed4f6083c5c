/** The request body: what the gateway must know of it, and the little that it may change in it. */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';
import { AssayError } from '#core/errors.ts';
import { isObject, type JsonObject, setMember } from '#core/json/mod.ts';
import { parseExactJson, toMessagesRequest } from '../providers/anthropic/mod.ts';
import type { Route } from '../providers/route.ts';

export type ChatBody = {
  /** As the client sent it, after content-encoding. */
  bytes: Buffer;
  model: string;
  stream: boolean;
  /** The body's own `user`, used when no header names one. */
  user: string | null;
  streamOptions: JsonObject | null;
  /** The most that the answer may have of tokens; null: the model's own limit. */
  maxTokens: number | null;
};

const DECODERS: Record<string, (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
};

/**
 * Undoes the content-encoding of a request.
 * @throws AssayError unsupported_media_type, body_too_large or invalid_body
 */
export async function decodeBody(body: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  const decode = DECODERS[encoding.trim().toLowerCase()];
  if (decode === undefined) {
    const allowed = Object.keys(DECODERS).join(', ');
    throw new AssayError(
      'unsupported_media_type',
      `The content-encoding "${encoding.slice(0, 80)}" is not known; allowed are ${allowed}`,
    );
  }
  try {
    return await decode(body, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new AssayError('body_too_large', `The request body is larger than the ${maxBytes} bytes allowed`);
    }
    throw new AssayError('invalid_body', `The request body is not valid ${encoding.trim()}`, {
      cause: error,
    });
  }
}

/**
 * Nesting above this makes a parser work for seconds on a body of allowed size; no real call comes near. Counted on
 * the bytes, strings included, which can only count too much: brackets in prose are balanced or few.
 */
const MAX_DEPTH = 100_000;
const DEPTH_CHECK_FROM_BYTES = 2 * MAX_DEPTH;

function isTooDeep(bytes: Buffer): boolean {
  if (bytes.length < DEPTH_CHECK_FROM_BYTES) return false;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const code = bytes[at]!;
    if (isInString) {
      if (code === 0x5c) at += 1;
      else if (code === 0x22) isInString = false;
    } else if (code === 0x22) isInString = true;
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return false;
}

/** More is no wish but a way to say: without limit. */
const LARGEST_MAX_TOKENS = 1_000_000;

function parse(bytes: Buffer): unknown {
  if (isTooDeep(bytes))
    throw new AssayError('invalid_body', `The request body is nested deeper than ${MAX_DEPTH} levels`);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    const where = /position (\d+)/.exec((cause as Error).message)?.[1];
    const at = where === undefined ? '' : ` (at character ${where})`;
    throw new AssayError('invalid_json', `The request body is not valid JSON${at}`, { cause });
  }
}

/**
 * Reads a chat completion request.
 * @throws AssayError invalid_json or invalid_body, naming the field
 */
export function readChatBody(bytes: Buffer): ChatBody {
  const body = parse(bytes);
  if (!isObject(body)) throw new AssayError('invalid_body', 'The request body must be a JSON object');
  const { model, stream, user, stream_options: streamOptions } = body;
  if (model === undefined)
    throw new AssayError('invalid_body', 'model is required: the id of the model to use');
  if (typeof model !== 'string' || model === '')
    throw new AssayError('invalid_body', 'model must be a string that is not empty');
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean') {
    throw new AssayError('invalid_body', 'stream must be true or false');
  }
  return {
    bytes,
    model,
    stream: stream === true,
    user: typeof user === 'string' ? user : null,
    streamOptions: isObject(streamOptions) ? streamOptions : null,
    maxTokens: tokensOf(body.max_completion_tokens) ?? tokensOf(body.max_tokens),
  };
}

function tokensOf(value: unknown): number | null {
  return typeof value === 'number' && value > 0 && value <= LARGEST_MAX_TOKENS ? value : null;
}

export type ProviderBody = {
  bytes: Buffer;
  /** We asked for usage and the client did not: its chunk must not reach the client. */
  hidesUsage: boolean;
};

/**
 * The body for the provider. In OpenAI's dialect: the client's bytes, but for the model's name and the wish for usage
 * where needed.
 * @throws AssayError invalid_body for what another dialect cannot express
 */
export function providerBody(body: ChatBody, { model, row }: Pick<Route, 'model' | 'row'>): ProviderBody {
  const { dialect, asksForUsage } = row;
  const hidesUsage = body.stream && asksForUsage && body.streamOptions?.include_usage !== true;
  if (dialect === 'anthropic') return { bytes: messagesRequest(body, model), hidesUsage };
  let bytes = body.bytes;
  if (model !== body.model) bytes = setMember(bytes, 'model', model);
  if (hidesUsage) bytes = setMember(bytes, 'stream_options', { ...body.streamOptions, include_usage: true });
  return { bytes, hidesUsage };
}

/** Of models before these, answers could not be longer. */
const OLD_CLAUDE = /claude-(?:instant|2|3-(?:opus|sonnet|haiku))/;
const OLD_MAX_TOKENS = 4_096;
/** For calls that do not say how long their answer may be, which Anthropic wants to be told. */
const DEFAULT_MAX_TOKENS = 8_192;

function messagesRequest({ bytes }: ChatBody, model: string): Buffer {
  const maxTokensDefault = OLD_CLAUDE.test(model) ? OLD_MAX_TOKENS : DEFAULT_MAX_TOKENS;
  const body = parseExactJson(bytes.toString('utf8')) as JsonObject;
  return Buffer.from(JSON.stringify(toMessagesRequest(body, { model, maxTokensDefault })));
}
