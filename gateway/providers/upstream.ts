/**
 * Calls to providers over undici's dispatcher: no stream objects in between, the answer's bytes go straight to a sink.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, Pool } from 'undici';
import { AssayError } from '#core/errors.ts';

/** Takes an answer's bytes. Exactly one of `end` and `fail` is called, last. */
export type AnswerSink = {
  data(chunk: Buffer): void;
  end(): void;
  fail(error: AssayError): void;
};

/** The beginning of a provider's answer, and the means to slow it down. */
export type ProviderAnswer = {
  status: number;
  headers: IncomingHttpHeaders;
  pause(): void;
  resume(): void;
};

export type ProviderRequest = {
  /** The provider's name in error sentences. */
  label: string;
  origin: string;
  path: string;
  /** Flat list of names and values. */
  headers: string[];
  body: Buffer;
  /** Called once, when status and headers are there: returns where the bytes go. */
  onStart(answer: ProviderAnswer): AnswerSink;
  /** Called instead of `onStart` when no answer came. */
  onFailure(error: AssayError): void;
};

export type ProviderTimeouts = { connectMs: number; firstByteMs: number; idleMs: number };

export type Upstream = {
  /** Sends a request; the function returned aborts it, after which neither callback nor sink hears of it again. */
  send(request: ProviderRequest): () => void;
  /** Aborts what is under way and closes every connection. */
  close(): Promise<void>;
};

/** A process cannot use more sockets to one provider than this without running out of ports or files. */
const MAX_CONNECTIONS = 1_024;
/** Providers' load balancers keep idle connections for a minute and more; a new TLS connection costs 50 ms. */
const KEEP_ALIVE_MS = 20_000;
const MAX_ORIGINS = 100;

function translate(error: Error & { code?: string }, label: string, timeouts: ProviderTimeouts): AssayError {
  const options = { cause: error, detail: `${error.code ?? error.name}: ${error.message}` };
  switch (error.code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return new AssayError(
        'provider_timeout',
        `The provider ${label} accepted no connection within ${timeouts.connectMs} ms`,
        options,
      );
    case 'UND_ERR_HEADERS_TIMEOUT':
      return new AssayError(
        'provider_timeout',
        `The provider ${label} sent no answer within ${timeouts.firstByteMs} ms`,
        options,
      );
    case 'UND_ERR_BODY_TIMEOUT':
      return new AssayError(
        'provider_timeout',
        `The provider ${label} was silent for ${timeouts.idleMs} ms in the middle of its answer`,
        options,
      );
    case 'UND_ERR_SOCKET':
    case 'ECONNRESET':
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      return new AssayError(
        'provider_unreachable',
        `The provider ${label} closed the connection before its answer was whole`,
        options,
      );
    default:
      return new AssayError('provider_unreachable', `The provider ${label} could not be reached`, options);
  }
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: ProviderRequest;
  readonly #timeouts: ProviderTimeouts;
  #controller: Dispatcher.DispatchController | null = null;
  #sink: AnswerSink | null = null;
  #isOver = false;

  constructor(request: ProviderRequest, timeouts: ProviderTimeouts) {
    this.#request = request;
    this.#timeouts = timeouts;
  }

  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#controller?.abort(new Error('the client left'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('the client left'));
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    // 1xx answers precede the real one.
    if (this.#isOver || status < 200) return;
    this.#sink = this.#request.onStart({
      status,
      headers,
      pause: () => controller.pause(),
      resume: () => controller.resume(),
    });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#isOver) this.#sink?.data(chunk);
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sink?.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const translated = translate(error, this.#request.label, this.#timeouts);
    if (this.#sink === null) this.#request.onFailure(translated);
    else this.#sink.fail(translated);
  }
}

/** Makes the upstream side of a gateway: one pool of connections for each provider address. */
export function createUpstream(timeouts: ProviderTimeouts): Upstream {
  const pools = new Map<string, Pool>();
  const poolFor = (origin: string): Pool => {
    let pool = pools.get(origin);
    if (pool === undefined) {
      // Origins come from configuration alone, so this is a bound that is never met.
      if (pools.size >= MAX_ORIGINS) throw new Error('Too many provider addresses');
      pool = new Pool(origin, {
        connections: MAX_CONNECTIONS,
        pipelining: 1,
        allowH2: false,
        connect: { timeout: timeouts.connectMs },
        keepAliveTimeout: KEEP_ALIVE_MS,
        headersTimeout: timeouts.firstByteMs,
        bodyTimeout: timeouts.idleMs,
      });
      pools.set(origin, pool);
    }
    return pool;
  };
  return {
    send: (request) => {
      const exchange = new Exchange(request, timeouts);
      poolFor(request.origin).dispatch(
        { path: request.path, method: 'POST', headers: request.headers, body: request.body },
        exchange,
      );
      return () => exchange.abort();
    },
    close: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}
