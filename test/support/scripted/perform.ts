/** Carries a behaviour out on a connection. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import zlib from 'node:zlib';
import type {
  Behaviour,
  Chunking,
  ContentEncoding,
  Ending,
  RecordedRequest,
  StreamBehaviour,
} from './behaviour.ts';
import { completionJson, errorJson, parseChatRequest, streamFrames } from './openai-dialect.ts';

const JSON_TYPE = 'application/json';
const PROVIDER_HEADERS = {
  'x-request-id': 'req_scripted',
  'openai-processing-ms': '7',
  'openai-version': '2020-10-01',
  'x-ratelimit-remaining-requests': '9999',
};

/** Whole bodies and streams, compressed; streams are flushed after every frame, as servers do. */
const ENCODINGS: Record<
  ContentEncoding,
  { whole(body: Buffer): Buffer; stream(): zlib.Gzip | zlib.BrotliCompress }
> = {
  gzip: { whole: zlib.gzipSync, stream: zlib.createGzip },
  deflate: { whole: zlib.deflateSync, stream: zlib.createDeflate },
  br: { whole: zlib.brotliCompressSync, stream: zlib.createBrotliCompress },
  zstd: { whole: zlib.zstdCompressSync, stream: zlib.createZstdCompress },
};

const closedHere = new WeakSet<ServerResponse>();

/** Whether a behaviour closed the connection early: then the caller did not hang up. */
export function wasClosedHere(response: ServerResponse): boolean {
  return closedHere.has(response);
}

/** What was written before still goes out; nothing more does. */
function closeEarly(response: ServerResponse): void {
  closedHere.add(response);
  response.socket?.destroySoon();
}

type WholeBody = {
  status: number;
  type: string;
  body: string | Buffer;
  headers?: Record<string, string> | undefined;
  encoding?: ContentEncoding | undefined;
};

function sendWhole(response: ServerResponse, answer: WholeBody): void {
  const plain = Buffer.from(answer.body);
  const body = answer.encoding === undefined ? plain : ENCODINGS[answer.encoding].whole(plain);
  response.writeHead(answer.status, {
    ...PROVIDER_HEADERS,
    'content-type': answer.type,
    'content-length': body.length,
    ...(answer.encoding === undefined ? {} : { 'content-encoding': answer.encoding }),
    ...answer.headers,
  });
  response.end(body);
}

/** Cuts `bytes` as asked; the pieces share its memory. */
function cutBytes(bytes: Uint8Array, chunking: Chunking = {}): Uint8Array[] {
  const each = chunking.bytesEach ?? (chunking.at === undefined ? bytes.length : undefined);
  const at =
    each === undefined
      ? (chunking.at ?? [])
      : Array.from({ length: Math.ceil(bytes.length / Math.max(1, each)) }, (_, i) => i * each);
  const offsets = [...new Set([0, ...at, bytes.length])].filter(
    (offset) => offset >= 0 && offset <= bytes.length,
  );
  offsets.sort((a, b) => a - b);
  return offsets.slice(1).map((end, i) => bytes.subarray(offsets[i], end));
}

async function writePieces(
  response: ServerResponse,
  pieces: Iterable<Uint8Array | string>,
  everyMs?: number,
) {
  let first = true;
  for (const piece of pieces) {
    if (!first) await (everyMs === undefined || everyMs === 0 ? nextTurn() : sleep(everyMs));
    first = false;
    if (response.destroyed) return;
    if (!response.write(piece)) await drainedOrClosed(response);
  }
}

/** Whichever comes first; the listener for the other one goes. */
async function drainedOrClosed(response: ServerResponse): Promise<void> {
  const over = new AbortController();
  const until = (event: string) => once(response, event, { signal: over.signal });
  await Promise.race([until('drain'), until('close')]).finally(() => over.abort());
}

function finish(response: ServerResponse, ending: Ending = 'end'): void {
  if (ending === 'end') response.end();
  if (ending === 'cut') closeEarly(response);
}

async function sendStream(response: ServerResponse, behaviour: StreamBehaviour, request: RecordedRequest) {
  response.writeHead(200, {
    ...PROVIDER_HEADERS,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    ...(behaviour.encoding === undefined ? {} : { 'content-encoding': behaviour.encoding }),
    ...behaviour.headers,
  });
  response.flushHeaders();
  const frames = streamFrames(behaviour, parseChatRequest(request.body));
  if (behaviour.encoding !== undefined) {
    await sendCompressed(response, frames, ENCODINGS[behaviour.encoding].stream(), behaviour.everyMs);
  } else if (behaviour.chunking !== undefined) {
    const bytes = Buffer.from([...frames].join(''));
    await writePieces(response, cutBytes(bytes, behaviour.chunking), behaviour.chunking.everyMs);
  } else {
    await writePieces(response, frames, behaviour.everyMs);
  }
  finish(response, behaviour.ending);
}

async function sendCompressed(
  response: ServerResponse,
  frames: Iterable<string>,
  compressor: zlib.Gzip | zlib.BrotliCompress,
  everyMs: number | undefined,
) {
  compressor.on('data', (bytes: Buffer) => response.write(bytes));
  for (const frame of frames) {
    compressor.write(frame);
    await new Promise<void>((resolve) => compressor.flush(() => resolve()));
    await (everyMs === undefined ? nextTurn() : sleep(everyMs));
  }
  compressor.end();
  await once(compressor, 'end');
}

async function sendBytes(response: ServerResponse, behaviour: Extract<Behaviour, { kind: 'bytes' }>) {
  response.writeHead(behaviour.status ?? 200, behaviour.headers ?? { 'content-type': JSON_TYPE });
  const bytes = Buffer.from(behaviour.body);
  if (behaviour.chunking === undefined && behaviour.ending === undefined) {
    response.end(bytes);
    return;
  }
  response.flushHeaders();
  await writePieces(response, cutBytes(bytes, behaviour.chunking), behaviour.chunking?.everyMs);
  finish(response, behaviour.ending);
}

/** Writes past Node's own bookkeeping, which would refuse a content-length that is not the body's. */
function sendWrongLength(response: ServerResponse, by: number): void {
  const body = JSON.stringify(completionJson({ kind: 'answer' }, {}));
  const head = `HTTP/1.1 200 OK\r\ncontent-type: ${JSON_TYPE}\r\ncontent-length: ${Buffer.byteLength(body) + by}\r\n`;
  response.socket?.write(`${head}connection: close\r\n\r\n${body}`);
  closeEarly(response);
}

function cut(response: ServerResponse, at: 'headers' | 'body'): void {
  if (at === 'headers') {
    closeEarly(response);
    return;
  }
  const body = Buffer.from(JSON.stringify(completionJson({ kind: 'answer' }, {})));
  response.writeHead(200, { 'content-type': JSON_TYPE, 'content-length': body.length });
  response.write(body.subarray(0, body.length >> 1), () => closeEarly(response));
}

function echo(request: RecordedRequest): WholeBody {
  const { method, path, headers, rawHeaders, body } = request;
  const seen = {
    method,
    path,
    headers,
    rawHeaders,
    body: body.toString(),
    bodyBase64: body.toString('base64'),
  };
  return { status: 200, type: JSON_TYPE, body: JSON.stringify(seen) };
}

/** Does with `request` what `behaviour` says; returns when there is nothing left to send. */
export async function perform(behaviour: Behaviour, request: RecordedRequest, response: ServerResponse) {
  if ('delayMs' in behaviour && behaviour.delayMs !== undefined) await sleep(behaviour.delayMs);
  switch (behaviour.kind) {
    case 'answer': {
      const body = JSON.stringify(completionJson(behaviour, parseChatRequest(request.body)));
      return sendWhole(response, { ...behaviour, status: 200, type: JSON_TYPE, body });
    }
    case 'stream':
      return sendStream(response, behaviour, request);
    case 'json': {
      const body = JSON.stringify(behaviour.body);
      return sendWhole(response, {
        status: behaviour.status ?? 200,
        type: JSON_TYPE,
        body,
        headers: behaviour.headers,
      });
    }
    case 'error':
      return sendWhole(response, {
        ...behaviour,
        type: JSON_TYPE,
        body: JSON.stringify(errorJson(behaviour.status, behaviour)),
      });
    case 'html': {
      const page = `<html><head><title>${behaviour.status}</title></head><body>Scripted page</body></html>`;
      return sendWhole(response, {
        status: behaviour.status,
        type: 'text/html',
        body: behaviour.body ?? page,
      });
    }
    case 'bytes':
      return sendBytes(response, behaviour);
    case 'hang':
      return;
    case 'cut':
      return cut(response, behaviour.at);
    case 'wrong-length':
      return sendWrongLength(response, behaviour.by);
    case 'reset':
      closedHere.add(response);
      response.socket?.resetAndDestroy();
      return;
    case 'echo':
      return sendWhole(response, echo(request));
  }
}
