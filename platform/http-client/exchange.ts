/** One request to a provider and its response. */
import { AssayError } from '#core/contracts/errors.ts';
import { isHeaderText } from '../http-message/mod.ts';
import { type BodyControl, type ProviderResponse, ResponseBody } from './response.ts';
import type { ResponseHead } from './response-reader.ts';

export type ProviderRequest = {
  /** The provider's name in error sentences. */
  label: string;
  /** The organization of the call: organizations share the connections to an address. */
  organizationId: string;
  origin: string;
  path: string;
  /** Flat list of names and values. */
  headers: string[];
  body: Buffer;
};

/**
 * Longest silences of a provider, in milliseconds: until it has accepted a connection, from then until its headers, and
 * between two pieces of its body.
 */
export type ProviderTimeouts = { connectMs: number; firstByteMs: number; idleMs: number };

/** Head and body of a request as they are written; null: the first buffer holds both. */
type RequestBytes = [Buffer, Buffer | null];

/** One request and its response. The connection drives it; the caller may abort it at any moment. */
export class Exchange {
  readonly request: ProviderRequest;
  readonly bytes: RequestBytes;
  /** Resolves with status and headers; rejects with an AssayError when there is no response. */
  readonly response: Promise<ProviderResponse>;
  readonly #settle: PromiseWithResolvers<ProviderResponse>;
  #body: ResponseBody | null = null;
  #isOver = false;
  #stop: () => void = () => {};

  /**
   * @param host the value of the `Host` header
   * @throws AssayError provider_not_configured when the request cannot be written as HTTP
   */
  constructor(request: ProviderRequest, host: string) {
    this.request = request;
    this.bytes = requestBytes(request, host);
    this.#settle = Promise.withResolvers();
    this.response = this.#settle.promise;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Aborts the exchange when `signal` does. */
  watch(signal: AbortSignal): void {
    if (signal.aborted) this.abort();
    else if (!this.#isOver) signal.addEventListener('abort', () => this.abort());
  }

  /** Sets the function that takes an aborted exchange off its connection or out of its queue. */
  onStop(stop: () => void): void {
    this.#stop = stop;
  }

  /** Stops the body, or rejects a response that has not begun. Does nothing after the end. */
  abort(): void {
    if (this.#isOver) return;
    const body = this.#finish();
    this.#stop();
    if (body === null) this.#settle.reject(clientLeft());
    else body.stop();
  }

  start({ status, headers }: ResponseHead, { pause, resume }: Omit<BodyControl, 'stop'>): void {
    if (this.#isOver) return;
    this.#body = new ResponseBody({ pause, resume, stop: () => this.abort() });
    this.#settle.resolve({ status, headers, body: this.#body });
  }

  data(chunk: Buffer): void {
    this.#body?.onData(chunk);
  }

  end(): void {
    if (!this.#isOver) this.#finish()?.onEnd();
  }

  fail(error: AssayError): void {
    if (this.#isOver) return;
    const body = this.#finish();
    if (body === null) this.#settle.reject(error);
    else body.onError(error);
  }

  /** Releases the body and returns it: the signal's listener outlives the exchange and must not keep the body alive. */
  #finish(): ResponseBody | null {
    const body = this.#body;
    this.#isOver = true;
    this.#body = null;
    return body;
  }
}

function clientLeft(): AssayError {
  return new AssayError('client_closed_request', 'The client left before its provider responded');
}

/** Up to this size, head and body are joined: copying costs less than a write of two buffers. */
const COPIED_BYTES = 16 * 1024;
/** A path without spaces and line breaks: with them, a model's name could inject headers. */
const PATH = /^\/[\x21-\x7e]*$/;

/**
 * Formats a request as HTTP. Characters that HTTP does not allow can only come from settings and stored keys here; the
 * headers of clients were checked when they arrived.
 */
function requestBytes({ label, path, headers, body }: ProviderRequest, host: string): RequestBytes {
  if (!PATH.test(path)) throw unwritable(label, 'path');
  let head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (let at = 0; at < headers.length; at += 2) {
    const value = headers[at + 1]!;
    if (!isHeaderText(value)) throw unwritable(label, `header ${headers[at]}`);
    head += `${headers[at]}: ${value}\r\n`;
  }
  head += `content-length: ${body.length}\r\n\r\n`;
  if (body.length > COPIED_BYTES) return [Buffer.from(head, 'latin1'), body];
  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, 'latin1');
  body.copy(bytes, head.length);
  return [bytes, null];
}

function unwritable(label: string, part: string): AssayError {
  return new AssayError(
    'provider_not_configured',
    `The ${part} for the provider ${label} has a character that HTTP does not allow there`,
  );
}
