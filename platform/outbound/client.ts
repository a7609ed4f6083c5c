/** The HTTP client for addresses that users chose: one POST at a time, bounded in time and bytes, through the guard of mod.ts. */
import type { IncomingHttpHeaders } from 'node:http';
import { Agent, type Dispatcher } from 'undici';
import { onFirstUse } from '../process/on-first-use.ts';
import { type ProxyChoice, ProxyError } from '../proxy/mod.ts';
import type { AllowList } from './allow-list.ts';
import { checkOutboundUrl, hostOf } from './check-url.ts';
import { ForbiddenAddressError, guardedConnector } from './connector.ts';
import type { Lookup } from './name-servers.ts';
import { OutboundError } from './outbound-error.ts';
import { requestOrResend, watchReuse } from './resend.ts';

export type OutboundRequest = {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Time for the whole call, from the look-up of the name to the last byte of the response. */
  timeoutMs: number;
  /** Ends the call; `post` then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * For callers that need only the status: at most this much of the body is read, for at most this long after the headers; a
   * body that is cut off is no failure. A redirect is returned like any other response. Default: the whole body.
   */
  beginning?: { maxBytes: number; waitMs: number };
};

/** A response of any status; of 3xx only when the request wants the beginning of the body alone. */
export type OutboundResponse = { status: number; headers: IncomingHttpHeaders; body: Buffer };

/** Calls to addresses that users chose. */
export type Outbound = {
  /** @throws OutboundError */
  post(request: OutboundRequest): Promise<OutboundResponse>;
  /** Returns why a URL cannot be called, or null: see `checkOutboundUrl`. */
  checkUrl(url: string): string | null;
  close(): Promise<void>;
};

/** A score and its reasons take a few KB; a service that sends more is broken or malicious. */
const MAX_RESPONSE_BYTES = 1024 * 1024;
const CONNECT_MS = 5_000;
const MAX_CONNECTIONS_PER_ORIGIN = 64;
const KEEP_ALIVE_MS = 10_000;

/**
 * Creates the client: http and https, to public addresses and those that `allow` admits. Redirects are not followed,
 * responses are read up to 1 MiB, and the whole call has one deadline.
 * @param options.lookup resolves names. Default: `createLookup`
 * @param options.nameServers what it asks. Default: the system's
 * @param options.ca certificates (PEM) to trust instead of the default authorities
 */
export function createOutbound(options: {
  allow: AllowList;
  lookup?: Lookup | undefined;
  nameServers?: readonly string[];
  ca?: string | undefined;
  connectMs?: number;
  /** Default: no proxy for any address. */
  proxyFor?: ProxyChoice;
}): Outbound {
  const { allow, connectMs = CONNECT_MS } = options;
  const settings = {
    allowH2: false,
    connections: MAX_CONNECTIONS_PER_ORIGIN,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: watchReuse(
      guardedConnector({
        allow,
        connectMs,
        lookup: options.lookup,
        nameServers: options.nameServers,
        ca: options.ca,
        proxyFor: options.proxyFor ?? (() => null),
      }),
    ),
    // `timeoutMs` bounds the whole call: undici's two timeouts would let a body of a byte a second go on for ever.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const agents = onFirstUse(
    (): Agents => ({
      kept: new Agent({ ...settings, pipelining: 1 }),
      fresh: new Agent({ ...settings, pipelining: 0 }),
    }),
  );
  return {
    checkUrl: (url) => checkOutboundUrl(url, allow),
    post: async (request) => {
      // The URL was checked when it was stored, but the allow list may have changed since.
      if (checkOutboundUrl(request.url, allow) !== null) throw new OutboundError('forbidden', FORBIDDEN);
      return callWithin(agents.get(), request);
    },
    close: async () => {
      await Promise.all([agents.made?.kept.destroy(), agents.made?.fresh.destroy()]);
    },
  };
}

type Agents = { kept: Agent; fresh: Agent };

const FORBIDDEN = 'The address does not lead to a public host, or to one that OUTBOUND_ALLOW admits';

async function callWithin(agents: Agents, request: OutboundRequest): Promise<OutboundResponse> {
  request.signal?.throwIfAborted();
  const host = hostOf(new URL(request.url));
  const over = new AbortController();
  const stop = () => over.abort();
  const timer = setTimeout(stop, request.timeoutMs);
  request.signal?.addEventListener('abort', stop, { once: true });
  // undici honours the signal only once it is connected: a look-up that hangs would hold the call.
  const stopped = new Promise<never>((_, reject) => {
    over.signal.addEventListener('abort', () => reject(over.signal.reason), { once: true });
  });
  try {
    const onHead = () => clearTimeout(timer);
    return await Promise.race([exchange(agents, request, over.signal, onHead), stopped]);
  } catch (error) {
    if (error instanceof OutboundError) throw error;
    request.signal?.throwIfAborted();
    throw over.signal.aborted
      ? new OutboundError('timeout', `${host} did not answer within ${request.timeoutMs} ms`)
      : translate(error, host);
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener('abort', stop);
  }
}

async function exchange(
  agents: Agents,
  request: OutboundRequest,
  signal: AbortSignal,
  onHead: () => void,
): Promise<OutboundResponse> {
  const url = new URL(request.url);
  const answer = await requestOrResend(agents, {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method: 'POST',
    headers: request.headers,
    body: request.body,
    signal,
  });
  if (request.beginning === undefined) return readResponse(answer, hostOf(url));
  // From here on the body has a time of its own: a response that came in time is not failed for it.
  onHead();
  return readBeginning(answer, request.beginning);
}

async function readBeginning(
  { statusCode: status, headers, body }: Dispatcher.ResponseData,
  { maxBytes, waitMs }: { maxBytes: number; waitMs: number },
): Promise<OutboundResponse> {
  const chunks: Buffer[] = [];
  let length = 0;
  const timer = setTimeout(() => body.destroy(), waitMs);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= maxBytes) break;
    }
  } catch {
    // The rest of the body was cut off.
  } finally {
    clearTimeout(timer);
    body.on('error', () => {}).destroy();
  }
  return { status, headers, body: Buffer.concat(chunks).subarray(0, maxBytes) };
}

async function readResponse(answer: Dispatcher.ResponseData, host: string): Promise<OutboundResponse> {
  const { statusCode: status, headers, body } = answer;
  const fail = (error: OutboundError): never => {
    body.on('error', () => {}).destroy();
    throw error;
  };
  if (status >= 300 && status < 400) {
    fail(new OutboundError('redirect', `${host} answered with a redirect (${status}): none is followed`));
  }
  const tooLarge = () =>
    new OutboundError('too_large', `${host} answered with more than ${MAX_RESPONSE_BYTES} bytes`);
  if (Number(headers['content-length']) > MAX_RESPONSE_BYTES) fail(tooLarge());
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_RESPONSE_BYTES) fail(tooLarge());
    chunks.push(chunk);
  }
  return { status, headers, body: Buffer.concat(chunks) };
}

const TLS_CODE = /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH$|EPROTO$)/;

function translate(cause: unknown, host: string): OutboundError {
  const fail = (failure: OutboundError['failure'], message: string) =>
    new OutboundError(failure, message, { cause });
  if (cause instanceof ForbiddenAddressError) return fail('forbidden', FORBIDDEN);
  if (cause instanceof ProxyError)
    return fail('unreachable', `${host} could not be reached: ${cause.message}`);
  const code = String((cause as { code?: unknown } | null)?.code ?? '');
  if (TLS_CODE.test(code)) return fail('unreachable', `${host} could not be trusted: TLS failed (${code})`);
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
      return fail('timeout', `${host} accepted no connection in time`);
    case 'UND_ERR_HEADERS_OVERFLOW':
      return fail('too_large', `${host} answered with too many headers`);
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return fail('unreachable', `${host} could not be found`);
    case 'UND_ERR_SOCKET':
    case 'ECONNRESET':
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      return fail('unreachable', `${host} closed the connection before its answer was whole`);
    default:
      return fail('unreachable', `${host} could not be reached`);
  }
}
