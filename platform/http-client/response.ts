/**
 * A provider's response: its head, which is awaited, and its body, whose bytes are pushed to the handler that reads it.
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

/** Takes the body of a response. Exactly one of `onEnd` and `onError` is called, last. */
export type ResponseHandler = {
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(error: AssayError): void;
};

/** What the sender of a body does for its reader. */
export type BodyControl = {
  pause(): void;
  resume(): void;
  /** Sends nothing more. */
  stop(): void;
};

/** How far a body has come: under way, complete, given up by its reader, or broken off. */
type BodyState = 'open' | 'whole' | 'stopped' | AssayError;

/** Why gathering ended: there is enough, or the body is over. */
export type Gathered = 'enough' | Exclude<BodyState, 'open'>;

/** Bytes that may come before the body is read; its sender is paused when there are more. */
const EARLY_BYTES = 256 * 1024;

/**
 * The body of a response under way. Its sender pushes to it; its reader first gathers as much of it as a decision needs,
 * any number of times, and then reads it once, from its beginning.
 */
export class ResponseBody implements ResponseHandler {
  readonly #sender: BodyControl;
  readonly #held = new GatheredBytes();
  #state: BodyState = 'open';
  #handler: ResponseHandler | null = null;
  #gathering: { isEnough: IsEnough; settle(): void } | null = null;
  #hasPausedSender = false;
  /** The handler knows how it ended. */
  #isEndDelivered = false;

  constructor(sender: BodyControl) {
    this.#sender = sender;
  }

  /** What has come and was not read. */
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

  /** Gives the body up: its handler hears nothing more. Harmless when it is over. */
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
   * Returns why gathering ended, or a promise of it when it has not: once there is enough of the body, or it is over.
   * What has come stays held.
   * @param isEnough asked of what is held already as if it were one chunk, and then of each chunk
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

  /** Passes the body to `handler`: what is held at once, the rest as it comes. To be called once. */
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

  /** Also when the sender has ended: what was held is passed on all the same. */
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

  /** The handler failed: the provider is not to blame, and its other calls go on. */
  #breakOff(handler: ResponseHandler, error: unknown): void {
    this.#sender.stop();
    this.#state = 'stopped';
    handler.onError(failedHere(error));
  }
}

type IsEnough = (chunk: Buffer, heldBytes: number) => boolean;

/** Successes that have no body by their definition (RFC 9110, sections 15.3.5 and 15.3.6). */
export function isWithoutContent(status: number): boolean {
  return status === 204 || status === 205;
}

type Head = Pick<ProviderResponse, 'status' | 'headers'>;

/** Whether a response is a stream of events, by its headers. */
export function isEventStream({ status, headers }: Head): boolean {
  const isSuccess = status >= 200 && status < 300 && !isWithoutContent(status);
  return isSuccess && /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}

/** The content-encoding in lower case, several in the order in which they were applied; null: none. */
export function encodingOf({ headers }: Pick<Head, 'headers'>): string | null {
  const header = headers['content-encoding'];
  if (header === undefined) return null;
  const codings = optionsOf(header).filter((coding) => coding !== '' && coding !== 'identity');
  return codings.length === 0 ? null : codings.join(', ');
}
