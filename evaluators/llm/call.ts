/** The HTTP edge of judges: one call through the gateway, bounded in time and size. */
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { describeError } from '#core/contracts/errors.ts';
import type { JsonObject } from '#core/json/mod.ts';
import { decodeContentInThread, readRetryAfter } from '#platform/http-message/mod.ts';
import { requestOrResend, watchReuse } from '#platform/outbound/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { type ProxyChoice, proxyConnector } from '#platform/proxy/mod.ts';
import { pinnedConnector } from './pinned-connector.ts';
import { createPlanMemory, type PlanMemory } from './plan.ts';

/** What came of a call. */
export type JudgeReply = {
  /** The gateway's id of the call's record; null when no answer told it. */
  requestId: string | null;
  latencyMs: number;
} & (
  | {
      kind: 'answer';
      status: number;
      text: string;
      /** As the headers ask. */
      retryAfterMs: number | null;
      /** `provider/model`, where the gateway called a model of another name; null: as asked. */
      routedModel: string | null;
    }
  /** `too_large`: the answer was cut off. `aborted`: by who asked for it. `detail` is for the service's log. */
  | { kind: 'too_large' | 'timeout' | 'unreachable' | 'aborted'; detail: string }
);

/** How `judge` reaches a judge, and what it remembers of judges. */
export type JudgeCall = {
  /** Makes one call; never rejects. */
  send(body: JsonObject, signal?: AbortSignal): Promise<JudgeReply>;
  readonly plans: PlanMemory;
  readonly clock: Clock;
};

/** Milliseconds. The gateway answers a call in one piece, so `firstByteMs` is how long a judge may think. */
export type JudgeTimeouts = { connectMs: number; firstByteMs: number; totalMs: number };

export type JudgeCallOptions = {
  /** Scheme, host and port of the gateway. */
  gatewayUrl: string;
  /** The certificate that it shows, which alone is trusted then; default: what the system's authorities have signed. */
  gatewayCertFile?: string | null;
  /** The headers that let a call of ours in, for one evaluation. */
  internalHeaders(organizationId: string, evaluationId: string): Record<string, string>;
  timeouts: JudgeTimeouts;
  clock: Clock;
  /** The proxy for an address. Default: none for any. */
  proxyFor?: ProxyChoice;
  /** Bytes of an answer, unpacked; default: 1 MB. */
  maxAnswerBytes?: number;
};

export type JudgeEdge = {
  /** The call for one evaluation. */
  callFor(organizationId: string, evaluationId: string): JudgeCall;
  /** Closes every connection; calls under way end as unreachable. */
  close(): Promise<void>;
};

const MAX_ANSWER_BYTES = 1_048_576;
/** The worker bounds how many calls are under way; this is only what a process may hold open. */
const MAX_CONNECTIONS = 512;

/** How the gateway is reached: one whose certificate is given directly, any other through a proxy where one is set. */
function connectorTo(
  url: URL,
  { timeouts: { connectMs }, gatewayCertFile = null, proxyFor }: JudgeCallOptions,
): buildConnector.connector {
  if (gatewayCertFile !== null) return pinnedConnector({ certFile: gatewayCertFile, timeoutMs: connectMs });
  const proxy = proxyFor?.(url) ?? null;
  return proxy === null
    ? buildConnector({ allowH2: false, timeout: connectMs })
    : proxyConnector({ proxy, connectMs });
}

/** Makes the edge. */
export function createJudgeCall(options: JudgeCallOptions): JudgeEdge {
  const { timeouts, clock, maxAnswerBytes = MAX_ANSWER_BYTES } = options;
  const url = new URL('v1/chat/completions', `${options.gatewayUrl.replace(/\/$/, '')}/`);
  const settings = {
    connections: MAX_CONNECTIONS,
    connect: watchReuse(connectorTo(url, options)),
    headersTimeout: timeouts.firstByteMs,
    bodyTimeout: timeouts.firstByteMs,
  };
  const pools = {
    kept: new Pool(url.origin, { ...settings, pipelining: 1 }),
    fresh: new Pool(url.origin, { ...settings, pipelining: 0 }),
  };
  const plans = createPlanMemory();
  return {
    callFor: (organizationId, evaluationId) => ({
      plans,
      clock,
      send: (body, signal) =>
        exchange({
          pools,
          origin: url.origin,
          path: url.pathname,
          headers: { ...options.internalHeaders(organizationId, evaluationId), ...HEADERS },
          body: JSON.stringify(body),
          timeouts,
          clock,
          maxAnswerBytes,
          signal,
        }),
    }),
    close: async () => {
      await Promise.all([pools.kept.destroy(), pools.fresh.destroy()]);
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
  timeouts: JudgeTimeouts;
  clock: Clock;
  maxAnswerBytes: number;
  signal: AbortSignal | undefined;
};

class TooLarge extends Error {}

async function exchange(options: Exchange): Promise<JudgeReply> {
  const { pools, origin, path, headers, body, timeouts, clock, maxAnswerBytes } = options;
  const startedMs = clock.monotonic();
  const total = new AbortController();
  const timer = setTimeout(() => total.abort(), timeouts.totalMs);
  const signal =
    options.signal === undefined ? total.signal : AbortSignal.any([options.signal, total.signal]);
  let requestId: string | null = null;
  try {
    const answer = await requestOrResend(pools, { method: 'POST', origin, path, headers, body, signal });
    requestId = textOf(answer.headers['service-request-id']);
    const bytes = await readBounded(answer.body, maxAnswerBytes);
    const plain = await decode(bytes, textOf(answer.headers['content-encoding']), maxAnswerBytes);
    return {
      kind: 'answer',
      requestId,
      routedModel: textOf(answer.headers['service-routed-model']),
      latencyMs: clock.monotonic() - startedMs,
      status: answer.statusCode,
      text: plain.toString('utf8'),
      retryAfterMs: readRetryAfter(answer.headers, clock.now()),
    };
  } catch (error) {
    const kind = options.signal?.aborted ? 'aborted' : total.signal.aborted ? 'timeout' : kindOf(error);
    return { kind, requestId, latencyMs: clock.monotonic() - startedMs, detail: describeError(error) };
  } finally {
    clearTimeout(timer);
  }
}

const TIMEOUTS = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

function kindOf(error: unknown): 'too_large' | 'timeout' | 'unreachable' {
  if (error instanceof TooLarge) return 'too_large';
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'ERR_BUFFER_TOO_LARGE') return 'too_large';
  return typeof code === 'string' && TIMEOUTS.has(code) ? 'timeout' : 'unreachable';
}

/** Reads a body; one that is larger than allowed closes its connection. */
async function readBounded(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop by an error destroys the stream, and with it the connection.
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new TooLarge(`The answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** Some providers pack their answers unasked. Bytes that do not unpack are taken as they are, and will not be read. */
async function decode(bytes: Buffer, encoding: string | null, maxBytes: number): Promise<Buffer> {
  if (bytes.length === 0) return bytes;
  try {
    return await decodeContentInThread(bytes, encoding, maxBytes);
  } catch (error) {
    if (kindOf(error) === 'too_large') throw error;
    return bytes;
  }
}

function textOf(header: string | string[] | undefined): string | null {
  return typeof header === 'string' ? header : (header?.[0] ?? null);
}
