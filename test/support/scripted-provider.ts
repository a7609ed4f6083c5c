/**
 * A provider in OpenAI's dialect on a local port that does what a test tells it to, fault by fault. Without a script it
 * answers by what it is asked (scripted/default-script.ts).
 *
 * @example
 * const provider = await startScriptedProvider();
 * provider.script(() => ({ kind: 'error', status: 429, headers: { 'retry-after': '1' } }));
 * // … OPENAI_BASE_URL=provider.url …
 * provider.requests[0]?.headers.authorization;
 * await provider.stop();
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RecordedRequest, Script } from './scripted/behaviour.ts';
import { defaultScript } from './scripted/default-script.ts';
import { perform, wasClosedHere } from './scripted/perform.ts';

export type * from './scripted/behaviour.ts';
export { defaultScript } from './scripted/default-script.ts';
export { countTokens, countUsage } from './scripted/openai-dialect.ts';

/** Answers made beforehand, for benchmarks: requests are neither parsed nor recorded. */
export type FixedAnswers = {
  /** The body for requests that want no stream. */
  plain: Buffer;
  /** The frames for requests whose body says `"stream":true`. */
  stream: readonly Buffer[];
  /** The same for those that say `"include_usage":true` as well. */
  streamWithUsage: readonly Buffer[];
  /** Milliseconds between two frames; 0: all in one piece. Default: each has its own turn of the event loop. */
  everyMs?: number;
};

export type ScriptedProviderOptions = {
  /** Default: a free one. */
  port?: number;
  /** The same for all requests, or chosen by their headers. */
  fixed?: FixedAnswers | ((request: IncomingMessage) => FixedAnswers);
};

export type ScriptedProvider = {
  /** The base URL for `OPENAI_BASE_URL`, with `/v1`. */
  url: string;
  port: number;
  /** All requests so far, in the order in which their last bytes arrived. */
  requests: RecordedRequest[];
  /** Decides from now on what is done with each request; null goes back to the default. */
  script(script: Script | null): void;
  /** Stops listening and drops all connections: callers are refused until `resume`, on the same port. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts a provider on 127.0.0.1. */
export async function startScriptedProvider(
  options: ScriptedProviderOptions = {},
): Promise<ScriptedProvider> {
  const requests: RecordedRequest[] = [];
  let script: Script = defaultScript;
  const { fixed } = options;
  const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 }, (incoming, response) => {
    if (fixed !== undefined) {
      answerFixed(incoming, response, typeof fixed === 'function' ? fixed(incoming) : fixed);
    } else void serve(incoming, response, requests, (request) => script(request));
  });
  await listen(server, options.port ?? 0);
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    requests,
    script: (next) => {
      script = next ?? defaultScript;
    },
    pause: close,
    resume: () => listen(server, port),
    stop: close,
  };
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}

async function serve(
  incoming: IncomingMessage,
  response: ServerResponse,
  requests: RecordedRequest[],
  script: Script,
): Promise<void> {
  const request = await record(incoming, response);
  if (request === null) return;
  requests.push(request);
  try {
    await perform(await script(request), request, response);
  } catch (error) {
    // A fault of the test itself: told to the caller, where the failing assertion will show it.
    if (!response.headersSent) response.writeHead(599, { 'content-type': 'text/plain' });
    response.end(`The script failed: ${String(error)}`);
  }
}

/** Reads the request; null when the caller left before its end. */
async function record(incoming: IncomingMessage, response: ServerResponse): Promise<RecordedRequest | null> {
  const { promise: ended, resolve: settle } = Promise.withResolvers<void>();
  const pieces: Buffer[] = [];
  try {
    for await (const piece of incoming) pieces.push(piece as Buffer);
  } catch {
    return null;
  }
  const request: RecordedRequest = {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    rawHeaders: incoming.rawHeaders,
    headers: incoming.headers,
    body: Buffer.concat(pieces),
    receivedAtMs: performance.now(),
    aborted: false,
    abortedAtMs: null,
    ended,
  };
  response.once('close', () => {
    if (!response.writableFinished && !wasClosedHere(response)) {
      request.aborted = true;
      request.abortedAtMs = performance.now();
    }
    settle();
  });
  return request;
}

const STREAM_FLAG = Buffer.from('"stream":true');
const USAGE_FLAG = Buffer.from('"include_usage":true');

function answerFixed(incoming: IncomingMessage, response: ServerResponse, fixed: FixedAnswers): void {
  const pieces: Buffer[] = [];
  incoming.on('data', (piece: Buffer) => pieces.push(piece));
  incoming.on('end', () => {
    const body = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    if (body.includes(STREAM_FLAG)) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const frames = body.includes(USAGE_FLAG) ? fixed.streamWithUsage : fixed.stream;
      if (fixed.everyMs === 0) response.end(Buffer.concat(frames));
      else writeFrames(response, frames, 0, fixed.everyMs);
    } else {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': fixed.plain.length });
      response.end(fixed.plain);
    }
  });
}

/** Each frame in its own turn of the event loop, or `everyMs` later, as if the model had just made it. */
function writeFrames(
  response: ServerResponse,
  frames: readonly Buffer[],
  index: number,
  everyMs: number | undefined,
): void {
  const frame = frames[index];
  if (frame === undefined) {
    response.end();
    return;
  }
  response.write(frame);
  const writeNext = () => writeFrames(response, frames, index + 1, everyMs);
  if (everyMs === undefined) setImmediate(writeNext);
  else setTimeout(writeNext, everyMs);
}
