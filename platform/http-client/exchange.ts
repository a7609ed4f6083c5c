/** What is asked of a provider, and who hears of its answer. */
import type { AssayError } from '#core/contracts/errors.ts';
import { failedHere } from './failures.ts';
import type { RequestBytes } from './request-bytes.ts';
import type { ResponseHeaders } from './response-headers.ts';

/** Takes an answer's bytes. Exactly one of `end` and `fail` is called, last. */
export type AnswerSink = {
  data(chunk: Buffer): void;
  end(): void;
  fail(error: AssayError): void;
};

/** The beginning of a provider's answer, and the means to slow it down or to stop it. */
export type ProviderAnswer = {
  status: number;
  headers: ResponseHeaders;
  pause(): void;
  resume(): void;
  /** Gives it up: nothing more of it is heard. */
  stop(): void;
};

export type ProviderRequest = {
  /** The provider's name in error sentences. */
  label: string;
  /** Whose call it is: organizations share the connections to an address. */
  organizationId: string;
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

/**
 * How long a provider may be silent, milliseconds: until it has accepted a connection, from then until its headers are
 * there, and between two pieces of its answer.
 */
export type ProviderTimeouts = { connectMs: number; firstByteMs: number; idleMs: number };

/**
 * One request under way: passes on what is heard of it, in order, until it is over. Its connection calls it; whoever
 * sent it may abort it at any moment.
 */
export class Exchange {
  readonly request: ProviderRequest;
  readonly bytes: RequestBytes;
  #sink: AnswerSink | null = null;
  #isOver = false;
  #stop: () => void = () => {};

  constructor(request: ProviderRequest, bytes: RequestBytes) {
    this.request = request;
    this.bytes = bytes;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Says how to stop what carries it. */
  carriedBy(stop: () => void): void {
    this.#stop = stop;
  }

  /** Nothing is heard of it from now on. Harmless when it is over. */
  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stop();
  }

  start(answer: ProviderAnswer): void {
    if (this.#isOver) return;
    try {
      this.#sink = this.request.onStart(answer);
    } catch (error) {
      this.#breakOff(error);
    }
  }

  data(chunk: Buffer): void {
    if (this.#isOver) return;
    try {
      this.#sink?.data(chunk);
    } catch (error) {
      this.#breakOff(error);
    }
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    try {
      this.#sink?.end();
    } catch (error) {
      this.#tell(failedHere(error));
    }
  }

  fail(error: AssayError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#tell(error);
  }

  /** Who hears of it failed: the provider is not to blame, and its other calls go on. */
  #breakOff(error: unknown): void {
    this.#isOver = true;
    this.#stop();
    this.#tell(failedHere(error));
  }

  #tell(error: AssayError): void {
    if (this.#sink === null) this.request.onFailure(error);
    else this.#sink.fail(error);
  }
}
