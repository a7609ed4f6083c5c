/** The request body: what the gateway must know of it. */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';
import { AssayError } from '#core/errors.ts';
import { isObject, type JsonObject } from '#core/json/mod.ts';
import type { Surface } from '../surfaces/surface.ts';

export type RequestBody = {
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
  const name = encoding.trim().toLowerCase();
  const decode = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
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

/** Nesting above this makes a parser work for seconds on a body of allowed size; no real call comes near. */
const MAX_DEPTH = 100_000;

/** Whether JSON, which need not be valid, is nested deeper than `maxDepth` levels. */
export function isDeeperThan(bytes: Buffer, maxDepth: number): boolean {
  if (bytes.length < 2 * maxDepth) return false;
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
      if (depth > maxDepth) return true;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return false;
}

/** More is no wish but a way to say: without limit. */
const LARGEST_MAX_TOKENS = 1_000_000;

function parse(bytes: Buffer): unknown {
  if (isDeeperThan(bytes, MAX_DEPTH))
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
 * Reads a request.
 * @throws AssayError invalid_json or invalid_body, naming the field
 */
export function readRequestBody(bytes: Buffer, surface: Surface): RequestBody {
  const body = parse(bytes);
  if (!isObject(body)) throw new AssayError('invalid_body', 'The request body must be a JSON object');
  const { stream, stream_options: streamOptions } = body;
  if (surface.canStream && stream !== undefined && stream !== null && typeof stream !== 'boolean')
    throw new AssayError('invalid_body', 'stream must be true or false');
  return {
    bytes,
    model: readModel(body.model, surface.defaultModel),
    stream: surface.canStream && stream === true,
    user: surface.userOf(body),
    streamOptions: isObject(streamOptions) ? streamOptions : null,
    maxTokens:
      tokensOf(body.max_completion_tokens) ?? tokensOf(body.max_tokens) ?? tokensOf(body.max_output_tokens),
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
