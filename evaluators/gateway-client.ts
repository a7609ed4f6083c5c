/** The HTTP client for calls of the evaluators through the gateway, each bounded in time and size. */
import { type Dispatcher, Pool } from 'undici';
import { describeError } from '#core/contracts/errors.ts';
import { decodeContentInThread, readRetryAfter } from '#platform/http-message/mod.ts';
import { gatewayConnector, requestOrResend, watchReuse } from '#platform/outbound/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { onFirstUse } from '#platform/process/on-first-use.ts';
import type { ProxyChoice } from '#platform/proxy/mod.ts';

/** The result of one call. */
export type GatewayReply = {
  /** Request id of the call's record; null when the response did not carry it. */
  requestId: string | null;
  /** Milliseconds. */
  latencyMs: number;
} & (
  | {
      kind: 'answer';
      status: number;
      text: string;
      /** The delay that the response headers ask for. */
      retryAfterMs: number | null;
      /** `provider/model`, when the gateway called another model than the one requested; else null. */
      routedModel: string | null;
    }
  /** `too_large`: the response was cut off. `aborted`: by the caller's signal. `detail` is for the log. */
  | { kind: 'too_large' | 'timeout' | 'unreachable' | 'aborted'; detail: string }
);

/** Milliseconds. The gateway sends a response in one piece, so `firstByteMs` bounds how long a model may think. */
export type GatewayTimeouts = { connectMs: number; firstByteMs: number; totalMs: number };

/** Options of `createGatewayClient`. */
export type GatewayClientOptions = {
  /** Scheme, host and port of the gateway. */
  gatewayUrl: string;
  /** The gateway's certificate, which alone is trusted; default: certificates that the system's authorities signed. */
  gatewayCertFile?: string | null;
  timeouts: GatewayTimeouts;
  clock: Clock;
  /** Returns the proxy for an address. Default: no proxy. */
  proxyFor?: ProxyChoice;
  /** Bytes of a response body after decompression; default: 1 MiB. */
  maxAnswerBytes?: number;
};

/** A chat completion to make. */
export type GatewayCall = {
  /** Those that authenticate it, and others of its own. */
  headers: Readonly<Record<string, string>>;
  /** JSON. */
  body: string;
  signal?: AbortSignal | undefined;
};

/** The connections of one process to its gateway. */
export type GatewayClient = {
  /** Makes one call; never rejects. */
  send(call: GatewayCall): Promise<GatewayReply>;
  /** Closes every connection; calls under way end as `unreachable`. */
  close(): Promise<void>;
};

const MAX_ANSWER_BYTES = 1_048_576;
/** Connections of one process. The worker bounds the calls under way; this bound only guards the descriptors. */
const MAX_CONNECTIONS = 512;

/** Makes the client of one process. */
export function createGatewayClient(options: GatewayClientOptions): GatewayClient {
  const { timeouts, clock, maxAnswerBytes = MAX_ANSWER_BYTES, gatewayCertFile = null, proxyFor } = options;
  const url = new URL('v1/chat/completions', `${options.gatewayUrl.replace(/\/$/, '')}/`);
  const connection = { connectMs: timeouts.connectMs, certFile: gatewayCertFile, proxyFor };
  const settings = {
    connections: MAX_CONNECTIONS,
    connect: watchReuse(gatewayConnector(url, connection)),
    headersTimeout: timeouts.firstByteMs,
    bodyTimeout: timeouts.firstByteMs,
  };
  const pools = onFirstUse(() => ({
    kept: new Pool(url.origin, { ...settings, pipelining: 1 }),
    fresh: new Pool(url.origin, { ...settings, pipelining: 0 }),
  }));
  return {
    send: ({ headers, body, signal }) =>
      exchange({
        pools: pools.get(),
        origin: url.origin,
        path: url.pathname,
        headers: { ...headers, ...HEADERS },
        body,
        timeouts,
        clock,
        maxAnswerBytes,
        signal,
      }),
    close: async () => {
      await Promise.all([pools.made?.kept.destroy(), pools.made?.fresh.destroy()]);
    },
  };
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json' };

type Exchange = {
  pools: { kept: Pool; fresh: Pool };
  origin: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  timeouts: GatewayTimeouts;
  clock: Clock;
  maxAnswerBytes: number;
  signal: AbortSignal | undefined;
};

class TooLarge extends Error {}

async function exchange(options: Exchange): Promise<GatewayReply> {
  const { pools, origin, path, headers, body, timeouts, clock, maxAnswerBytes } = options;
  const startedMs = clock.monotonic();
  const total = new AbortController();
  const timer = setTimeout(() => total.abort(), timeouts.totalMs);
  const signal =
    options.signal === undefined ? total.signal : AbortSignal.any([options.signal, total.signal]);
  let requestId: string | null = null;
  try {
    const answer = await requestOrResend(pools, { method: 'POST', origin, path, headers, body, signal });
    requestId = headerText(answer.headers['service-request-id']);
    const bytes = await readBounded(answer.body, maxAnswerBytes);
    const plain = await decode(bytes, headerText(answer.headers['content-encoding']), maxAnswerBytes);
    return {
      kind: 'answer',
      requestId,
      routedModel: headerText(answer.headers['service-routed-model']),
      latencyMs: clock.monotonic() - startedMs,
      status: answer.statusCode,
      text: plain.toString('utf8'),
      retryAfterMs: readRetryAfter(answer.headers, clock.now()),
    };
  } catch (error) {
    const kind = options.signal?.aborted
      ? 'aborted'
      : total.signal.aborted
        ? 'timeout'
        : failureKindOf(error);
    return { kind, requestId, latencyMs: clock.monotonic() - startedMs, detail: describeError(error) };
  } finally {
    clearTimeout(timer);
  }
}

const TIMEOUTS = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

function failureKindOf(error: unknown): 'too_large' | 'timeout' | 'unreachable' {
  if (error instanceof TooLarge) return 'too_large';
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'ERR_BUFFER_TOO_LARGE') return 'too_large';
  return typeof code === 'string' && TIMEOUTS.has(code) ? 'timeout' : 'unreachable';
}

/** Reads a body; a body of more than `maxBytes` closes its connection. */
async function readBounded(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // An error that leaves the loop destroys the stream, and with it the connection.
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new TooLarge(`The answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** Decompresses a body: some providers compress unasked. Bytes that do not decompress are returned as they are and fail to parse. */
async function decode(bytes: Buffer, encoding: string | null, maxBytes: number): Promise<Buffer> {
  if (bytes.length === 0) return bytes;
  try {
    return await decodeContentInThread(bytes, encoding, maxBytes);
  } catch (error) {
    if (failureKindOf(error) === 'too_large') throw error;
    return bytes;
  }
}

function headerText(header: string | string[] | undefined): string | null {
  return typeof header === 'string' ? header : (header?.[0] ?? null);
}
