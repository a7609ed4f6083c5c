/**
 * A provider's response: the head is awaited, and the body's bytes are pushed to the handler that reads it.
 */
import type { AssayError } from '#core/contracts/errors.ts';
import { GatheredBytes, optionsOf } from '../http-message/mod.ts';
import { failedHere } from './failures.ts';
import type { ResponseHeaders } from './response-reader.ts';

export type ProviderResponse = {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: ResponseBody;
};

/** Callbacks for the body of a response. Exactly one of `onEnd` and `onError` is called, last. */
export type ResponseHandler = {
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(error: AssayError): void;
};

/** Controls that the sender of a body gives to its reader. */
export type BodyControl = {
  pause(): void;
  resume(): void;
  /** Ends sending. */
  stop(): void;
};

/** State of a body: under way, complete, stopped by its reader, or failed. */
type BodyState = 'open' | 'whole' | 'stopped' | AssayError;

/** Why gathering ended: enough of the body is there, or the body is over. */
export type Gathered = 'enough' | Exclude<BodyState, 'open'>;

/** Bytes that may arrive before the body is read; the sender is paused beyond them. */
const EARLY_BYTES = 256 * 1024;

/**
 * The body of a response under way. The sender pushes bytes; the reader first gathers as much as a decision needs, any number
 * of times, and then reads the body once, from its beginning.
 */
export class ResponseBody implements ResponseHandler {
  readonly #sender: BodyControl;
  readonly #held = new GatheredBytes();
  #state: BodyState = 'open';
  #handler: ResponseHandler | null = null;
  #gathering: { isEnough: IsEnough; settle(): void } | null = null;
  #hasPausedSender = false;
  /** True when the handler's `onEnd` or `onError` was called. */
  #isEndDelivered = false;

  constructor(sender: BodyControl) {
    this.#sender = sender;
  }

  /** Bytes that arrived and were not read. */
  get held(): Buffer {
    return this.#held.bytes();
  }

  pause(): void {
    this.#hasPausedSender = false;
    this.#sender.pause();
  }

  resume(): void {
    this.#sender.resume();
  }

  /** Stops the body: its handler is not called any more. Does nothing after the end. */
  stop(): void {
    if (this.#isEndDelivered || this.#state === 'stopped') return;
    const wasOpen = this.#state === 'open';
    this.#state = 'stopped';
    if (wasOpen) this.#sender.stop();
    this.#gathering?.settle();
  }

  onData(chunk: Buffer): void {
    if (this.#state !== 'open') return;
    if (this.#handler === null) this.#hold(chunk);
    else this.#pass(this.#handler, chunk);
  }

  onEnd(): void {
    if (this.#state !== 'open') return;
    this.#state = 'whole';
    this.#deliverEnd();
  }

  onError(error: AssayError): void {
    if (this.#state !== 'open') return;
    this.#state = error;
    this.#deliverEnd();
  }

  /**
   * Waits until enough of the body is there, or the body is over. Returns why gathering ended, or a promise of that. The
   * bytes stay held.
   * @param isEnough called with the bytes held already as one chunk, and then with each chunk
   * @param signal stops the body when it aborts meanwhile
   */
  gather(isEnough: IsEnough, signal: AbortSignal): Gathered | Promise<Gathered> {
    if (signal.aborted) this.stop();
    if (this.#held.length > 0 && this.#state !== 'stopped' && isEnough(this.held, this.#held.length))
      return 'enough';
    if (this.#state !== 'open') return this.#state;
    this.#resumeSender();
    return new Promise((resolve) => {
      const stop = () => this.stop();
      signal.addEventListener('abort', stop);
      const settle = () => {
        signal.removeEventListener('abort', stop);
        this.#gathering = null;
        resolve(this.#state === 'open' ? 'enough' : this.#state);
      };
      this.#gathering = { isEnough, settle };
    });
  }

  /** Passes the body to `handler`: held bytes at once, the rest as it arrives. To be called once. */
  read(handler: ResponseHandler): void {
    this.#handler = handler;
    if (this.#state === 'stopped') return;
    const held = this.#held.bytes();
    this.#held.clear();
    if (held.length > 0) this.#pass(handler, held);
    this.#resumeSender();
    this.#deliverEnd();
  }

  #hold(chunk: Buffer): void {
    this.#held.push(chunk);
    if (this.#gathering !== null) {
      if (this.#gathering.isEnough(chunk, this.#held.length)) this.#gathering.settle();
    } else if (this.#held.length > EARLY_BYTES) {
      this.#hasPausedSender = true;
      this.#sender.pause();
    }
  }

  #resumeSender(): void {
    if (!this.#hasPausedSender) return;
    this.#hasPausedSender = false;
    this.#sender.resume();
  }

  /** Passes bytes on; held bytes also after the sender has ended. */
  #pass(handler: ResponseHandler, chunk: Buffer): void {
    try {
      handler.onData(chunk);
    } catch (error) {
      this.#breakOff(handler, error);
    }
  }

  #deliverEnd(): void {
    const state = this.#state;
    const handler = this.#handler;
    if (handler === null) this.#gathering?.settle();
    else if (state === 'whole') {
      this.#isEndDelivered = true;
      try {
        handler.onEnd();
      } catch (error) {
        handler.onError(failedHere(error));
      }
    } else if (state !== 'open' && state !== 'stopped') {
      this.#isEndDelivered = true;
      handler.onError(state);
    }
  }

  /** Stops the body because its handler threw. The provider is not at fault, and its other calls go on. */
  #breakOff(handler: ResponseHandler, error: unknown): void {
    this.#sender.stop();
    this.#state = 'stopped';
    handler.onError(failedHere(error));
  }
}

type IsEnough = (chunk: Buffer, heldBytes: number) => boolean;

/** Returns whether a success status has no body by definition (RFC 9110, sections 15.3.5 and 15.3.6). */
export function isWithoutContent(status: number): boolean {
  return status === 204 || status === 205;
}

type Head = Pick<ProviderResponse, 'status' | 'headers'>;

/** Returns whether a response is an event stream, by its headers. */
export function isEventStream({ status, headers }: Head): boolean {
  const isSuccess = status >= 200 && status < 300 && !isWithoutContent(status);
  return isSuccess && /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}

/** Returns the content-encoding in lower case, several in the order in which they were applied; null: none. */
export function encodingOf({ headers }: Pick<Head, 'headers'>): string | null {
  const header = headers['content-encoding'];
  if (header === undefined) return null;
  const codings = optionsOf(header).filter((coding) => coding !== '' && coding !== 'identity');
  return codings.length === 0 ? null : codings.join(', ');
}
