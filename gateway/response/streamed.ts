/**
 * A streamed response: whole events go to the client as they come, byte for byte, and are kept for the log. The end is
 * held back, the endpoint's last event or the close of the stream, until the record is committed: a client that has seen
 * the end can find its record.
 */
import { type AssembledStream, assembleInTurns, assembleStream } from '#core/chat/mod.ts';
import { AssayError } from '#core/contracts/errors.ts';
import type { JsonObject } from '#core/json/mod.ts';
import { failedHere, type ResponseHandler } from '#platform/http-client/mod.ts';
import { GatheredBytes, joinBytes } from '#platform/http-message/mod.ts';
import { Reply } from '#platform/http-server/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { inTurns } from '#platform/process/turns.ts';
import { errorStatus } from '../dialects/mod.ts';
import type { LoggingDecision } from '../limits/logging-rate.ts';
import { logDefect } from '../request/log-defect.ts';
import { ClientStream } from './client-stream.ts';
import { mayHoldError } from './inspect-body.ts';
import type { ResponseRelay } from './outcome.ts';
import { errorDetails, relayedHeaders, unloggedHeaders } from './reply.ts';
import { isNote, isUsageFrame, SseSplitter } from './sse-splitter.ts';

export type StreamOptions = {
  /** Leave the usage event out: the gateway asked for it, not the client. */
  hidesUsage: boolean;
  logging: LoggingDecision;
  /**
   * The most bytes of a stream that are kept for the log; the rest is relayed and the record marked as truncated. Nor may one
   * event be longer, which is held until it ends: the last event of a response has the whole answer in it.
   */
  maxLoggedBytes: number;
  /** Milliseconds on the monotonic clock. */
  now(): number;
  log: Logger;
};

/** Relays a stream of events; resolves with the reply that it begins. */
export async function relayStreamed(relay: ResponseRelay, options: StreamOptions): Promise<Response> {
  const { response, headers, call } = relay;
  const client = new ClientStream(response.body);
  const handler = new StreamRelay(relay, options, client);
  call.signal.addEventListener('abort', () => handler.clientLeft());
  response.body.read(handler);
  // A provider may be quicker than the counters, and the headers go out before the rest: what comes meanwhile waits.
  const { atOnce, settled } = options.logging;
  const isLogged = atOnce ?? (await settled);
  const replyHeaders = relayedHeaders(response.headers, headers).filter(
    ([name]) => name !== 'content-encoding',
  );
  replyHeaders.push(...unloggedHeaders(isLogged));
  return new Reply(client, { status: response.status, headers: replyHeaders });
}

/** So much may wait for the record, which takes milliseconds; a provider that sends more is paused. */
const MAX_BEHIND_BYTES = 256 * 1024;

/** Up to here a stream is put together in one turn of the event loop, in some 5 ms. Nearly all are shorter. */
const ASSEMBLED_AT_ONCE_BYTES = 256 * 1024;

class StreamRelay implements ResponseHandler {
  readonly #relay: ResponseRelay;
  readonly #options: StreamOptions;
  readonly #client: ClientStream;
  readonly #splitter: SseSplitter;
  #frames = 0;
  #wholeEventBytes = 0;
  /** An event held an error, or only looked like it: some servers end a stream as usual behind one. */
  #mayHaveFailed = false;
  readonly #logged = new GatheredBytes();
  #loggedBytes = 0;
  #isCut = false;
  #ttftMs: number | null = null;
  /** From the last event on the record is being committed. */
  #phase: 'responding' | 'recording' | 'recorded' = 'responding';
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isFinished = false;

  constructor(relay: ResponseRelay, options: StreamOptions, client: ClientStream) {
    this.#relay = relay;
    this.#options = options;
    this.#client = client;
    this.#splitter = new SseSplitter(options.maxLoggedBytes);
  }

  onData(chunk: Buffer): void {
    if (this.#splitter.isOverrun) return;
    this.#ttftMs ??= this.#options.now() - this.#relay.call.startedAt;
    this.#log(chunk);
    let passed: Buffer[] = [];
    const { hidesUsage } = this.#options;
    const { endpoint } = this.#relay.call;
    for (const frame of this.#splitter.push(chunk)) {
      this.#frames += 1;
      if (this.#phase === 'responding') this.#wholeEventBytes += frame.length;
      this.#mayHaveFailed ||= mayHoldError(frame);
      if (isNote(frame) || (hidesUsage && isUsageFrame(frame))) continue;
      if (this.#phase === 'responding' && endpoint.isLastFrame(frame)) {
        this.#send(passed);
        passed = [];
        // Bytes behind the last event are not part of the answer, in whichever chunk it came.
        this.#logWholeEvents();
        if (this.#mayHaveFailed) {
          this.#phase = 'recording';
          this.#assemble((assembled) => this.#recordEnd(assembled));
        } else this.#record(this.#relay.response.status, false, null);
      }
      passed.push(frame);
    }
    this.#send(passed);
    if (this.#splitter.isOverrun) this.#giveUp();
  }

  onEnd(): void {
    if (!this.#splitter.isOverrun) this.#finish(null);
  }

  onError(error: AssayError): void {
    if (!this.#splitter.isOverrun) this.#finish(error);
  }

  /** Records that the client left, with what had come. */
  clientLeft(): void {
    this.#relay.response.body.stop();
    if (this.#phase === 'responding') this.#record(499, true, 'client_closed_request');
  }

  #send(frames: Buffer[]): void {
    if (frames.length === 0 || this.#isFinished) return;
    if (this.#phase === 'responding') {
      this.#client.write(joinBytes(frames));
      return;
    }
    this.#waiting.push(...frames);
    for (const { length } of frames) this.#waitingBytes += length;
    if (this.#phase === 'recording' && this.#waitingBytes > MAX_BEHIND_BYTES)
      this.#relay.response.body.pause();
    this.#sendBehind();
  }

  /** Once the record is committed; mostly the last event and the end of the stream, in one write. */
  #sendBehind(): void {
    if (this.#phase !== 'recorded') return;
    const bytes = joinBytes(this.#waiting);
    const wasPaused = this.#waitingBytes > MAX_BEHIND_BYTES;
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (this.#isFinished) this.#client.end(bytes);
    else if (this.#client.write(bytes) && wasPaused) this.#relay.response.body.resume();
  }

  #log(chunk: Buffer): void {
    if (this.#phase !== 'responding' || this.#isCut) return;
    this.#loggedBytes += chunk.length;
    if (this.#loggedBytes > this.#options.maxLoggedBytes) this.#isCut = true;
    else this.#logged.push(chunk);
  }

  #logWholeEvents(): void {
    if (this.#loggedBytes <= this.#wholeEventBytes) return;
    const whole = this.#logged.bytes().subarray(0, this.#wholeEventBytes);
    this.#logged.clear();
    this.#logged.push(whole);
  }

  /** Stops a provider whose event would not end. */
  #giveUp(): void {
    const { response, label } = this.#relay;
    response.body.stop();
    if (this.#phase === 'responding') this.#logWholeEvents();
    const message = `The provider ${label} sent an event of more than ${this.#options.maxLoggedBytes} bytes`;
    this.#finish(new AssayError('provider_bad_answer', message));
  }

  /** Puts together what is logged, and goes on with it: at once, or for a long stream some turns later. */
  #assemble(goOn: (assembled: AssembledStream) => void): void {
    const fail = (error: unknown) => this.#fail(error);
    if (this.#loggedBytes > ASSEMBLED_AT_ONCE_BYTES) {
      assembleInTurns(this.#logged.pieces(), inTurns).then(goOn).catch(fail);
      return;
    }
    try {
      goOn(assembleStream(this.#logged.bytes().toString('utf8')));
    } catch (error) {
      fail(error);
    }
  }

  /** Ends a stream whose end the gateway failed to read. */
  #fail(error: unknown): void {
    const { response, call } = this.#relay;
    logDefect(this.#options.log, call.id, error, 'the end of a stream could not be read');
    response.body.stop();
    this.#breakOff(failedHere(error));
  }

  #finish(broken: AssayError | null): void {
    if (this.#phase === 'responding') this.#assemble((assembled) => this.#conclude(assembled, broken));
    else this.#endWithRest();
  }

  /**
   * Ends a stream whose connection closed or broke. After the last event, or after a finish reason, the response was
   * whole all the same, and a provider that sent an error has said why it is not; any other end is an error.
   */
  #conclude(assembled: AssembledStream, broken: AssayError | null): void {
    // Unless the client left while the stream was put together.
    if (this.#phase === 'responding') {
      const { call, label } = this.#relay;
      const { complete, completion } = assembled;
      const isExplained = complete || (completion.error ?? null) !== null;
      if (!isExplained && (broken !== null || (call.endpoint.canStream && !this.#isCut))) {
        const message = `The provider ${label} ended its answer before it was whole`;
        this.#concludeBrokenOff(broken ?? new AssayError('provider_bad_answer', message), completion);
        return;
      }
      this.#recordEnd(assembled);
    }
    this.#endWithRest();
  }

  /** Breaks a stream off that was put together with the torn event at its end: the client does not get that, nor does the record. */
  #concludeBrokenOff(error: AssayError, completion: JsonObject): void {
    if (this.#loggedBytes <= this.#wholeEventBytes) {
      this.#breakOff(error, completion);
      return;
    }
    this.#logWholeEvents();
    this.#assemble((whole) => {
      if (this.#phase === 'responding') this.#breakOff(error, whole.completion);
    });
  }

  #endWithRest(): void {
    const rest = this.#splitter.rest();
    this.#endBehind(this.#options.hidesUsage && isUsageFrame(rest) ? [] : [rest]);
  }

  #endBehind(last: Buffer[]): void {
    this.#waiting.push(...last);
    this.#isFinished = true;
    this.#sendBehind();
  }

  /** A torn event is not passed on: the error stands where it would have been, and no end follows. */
  #breakOff(error: AssayError, completion?: JsonObject): void {
    const { response, call } = this.#relay;
    this.#record(response.status, true, error.code, completion);
    this.#endBehind([Buffer.from(call.endpoint.errors.frame(errorDetails(error), this.#frames))]);
  }

  /** Records an unusual end: the response may be whole all the same, or have an error that says why not. */
  #recordEnd({ completion, complete }: AssembledStream): void {
    const { status } = this.#relay.response;
    const failed = errorStatus(completion.error);
    this.#record(failed ?? status, failed !== null || !complete, null, completion);
  }

  /** @param completion absent: the stream was not put together yet */
  #record(status: number, truncated: boolean, errorCode: string | null, completion?: JsonObject): void {
    this.#phase = 'recording';
    const responseBody = this.#logged.bytes();
    this.#logged.clear();
    const recorded = this.#relay.record({
      status,
      responseBody,
      contentType: this.#relay.response.headers['content-type'] ?? null,
      contentEncoding: null,
      stream: true,
      ttftMs: this.#ttftMs,
      truncated: truncated || this.#isCut,
      errorCode,
      completion,
    });
    void recorded.then(() => {
      this.#phase = 'recorded';
      this.#sendBehind();
    });
  }
}
