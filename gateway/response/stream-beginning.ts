/**
 * The beginning of a stream that another attempt could still replace: it is held until its first event is whole, as some
 * providers send an error in it, under the status of a success, when a model cannot begin.
 */
import { assembleStream, readFrameData } from '#core/chat/mod.ts';
import { encodingOf, type ProviderResponse } from '#platform/http-client/mod.ts';
import { errorStatus } from '../dialects/mod.ts';
import { mayHoldError } from './inspect-body.ts';
import { SseSplitter } from './sse-splitter.ts';

/** A longer first event is no error. */
const LONGEST_ERROR_BYTES = 64 * 1024;
/**
 * Some providers send comments while a model waits or thinks, so that nobody takes the connection for dead. These are held
 * no longer than this: a client or a proxy before the gateway may count on them.
 */
const LONGEST_HOLD_MS = 10_000;

/** Watches the beginning of a stream. */
export class StreamBeginning {
  readonly #isPacked: boolean;
  readonly #splitter = new SseSplitter(LONGEST_ERROR_BYTES);
  readonly #now: () => number;
  readonly #holdUntil: number;
  /** The first event with data. */
  #first: Buffer | null = null;

  /** @param now milliseconds on the monotonic clock */
  constructor(response: Pick<ProviderResponse, 'headers'>, now: () => number) {
    this.#isPacked = encodingOf(response) !== null;
    this.#now = now;
    this.#holdUntil = now() + LONGEST_HOLD_MS;
  }

  /** Takes the next bytes; returns whether they are enough to tell how the stream begins, or all that is waited for. */
  readonly isEnough = (chunk: Buffer, heldBytes: number): boolean => {
    if (this.#isPacked || heldBytes > LONGEST_ERROR_BYTES) return true;
    this.#first ??= this.#splitter.push(chunk).find(hasData) ?? null;
    return this.#first !== null || this.#now() > this.#holdUntil;
  };

  /** Takes the end of a stream that ended meanwhile; returns whether there was any event. */
  end(): boolean {
    const rest = this.#splitter.rest();
    if (hasData(rest)) this.#first ??= rest;
    return this.#first !== null;
  }

  /** Returns the status of the error that the first event holds; null: none. */
  errorStatus(): number | null {
    if (this.#first === null || !isLikeError(this.#first)) return null;
    return errorStatus(assembleStream(this.#first.toString('utf8')).completion.error);
  }
}

function hasData(frame: Buffer): boolean {
  return readFrameData(frame.toString('utf8')) !== null;
}

const ERROR_TYPE = Buffer.from('"error"');

/** OpenAI's Responses have events that are errors, and not members with one. */
function isLikeError(frame: Buffer): boolean {
  return mayHoldError(frame) || frame.includes(ERROR_TYPE);
}
