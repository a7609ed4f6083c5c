/**
 * A streamed answer: whole events go to the client as they come, byte for byte, and are kept for the log. The end is
 * held back, the surface's last event or the close of the stream, until the record is committed: a client that has seen
 * the end can find its record.
 */
import { type AssembledStream, assembleInTurns, assembleStream } from '#core/chat/mod.ts';
import { AssayError } from '#core/contracts/errors.ts';
import { type AnswerSink, failedHere, type ProviderAnswer } from '#platform/http-client/mod.ts';
import { GatheredBytes, joinBytes, Reply } from '#platform/http-server/mod.ts';
import type { Call } from '../request/call.ts';
import type { RecordOutcome } from '../request/record.ts';
import { ClientStream } from './client-stream.ts';
import { errorStatus, mayHoldError } from './error-in-success.ts';
import { answerHeaders, errorDetails } from './reply.ts';
import { isNote, isUsageFrame, SseSplitter } from './sse-splitter.ts';

export type StreamRelayOptions = {
  call: Call;
  answer: ProviderAnswer;
  record: RecordOutcome;
  /**
   * How much of a stream is kept for the log; what lies beyond is relayed and the record marked as truncated. Nor may one
   * event be longer, which is held until it ends: the last event of a response has the whole answer in it.
   */
  maxLoggedBytes: number;
  /** Milliseconds on the monotonic clock. */
  now(): number;
  respond(response: Response): void;
};

/** So much may wait for the record, which takes milliseconds; a provider that sends more meanwhile is paused. */
const MAX_BEHIND_BYTES = 256 * 1024;

/** Up to here a stream is put together in one turn of the event loop, in some 5 ms. Nearly all are shorter. */
const ASSEMBLED_AT_ONCE_BYTES = 256 * 1024;

export class StreamRelay implements AnswerSink {
  readonly #options: StreamRelayOptions;
  readonly #client: ClientStream;
  readonly #splitter: SseSplitter;
  #frames = 0;
  /** Of whole events, up to the last one. */
  #answerBytes = 0;
  /** An event told of an error, or only looked like it: some servers end a stream as usual behind one. */
  #mayHaveFailed = false;
  readonly #logged = new GatheredBytes();
  #loggedBytes = 0;
  #isCut = false;
  #ttftMs: number | null = null;
  /** From the last event on the record is being committed. */
  #phase: 'answering' | 'recording' | 'recorded' = 'answering';
  /** What waits behind the record. */
  #behind: Buffer[] = [];
  #behindBytes = 0;
  /** Nothing more will come. */
  #isFinished = false;

  constructor(options: StreamRelayOptions) {
    const { call, answer } = options;
    this.#options = options;
    this.#client = new ClientStream(answer);
    this.#splitter = new SseSplitter(options.maxLoggedBytes);
    const headers = answerHeaders(answer.headers, call.ownHeaders).filter(
      ([name]) => name !== 'content-encoding',
    );
    const begin = (isLogged: boolean): void => {
      if (!isLogged) headers.push(['service-logged', 'false']);
      options.respond(new Reply(this.#client, { status: answer.status, headers }));
    };
    // A provider may be quicker than the counters, and the headers go out before the rest: what comes meanwhile waits.
    if (typeof call.isLogged === 'boolean') begin(call.isLogged);
    else void call.isLogged.then(begin);
  }

  data(chunk: Buffer): void {
    if (this.#splitter.isOverrun) return;
    this.#ttftMs ??= this.#options.now() - this.#options.call.startedAt;
    this.#log(chunk);
    let passed: Buffer[] = [];
    const { hidesUsage, surface } = this.#options.call;
    for (const frame of this.#splitter.push(chunk)) {
      this.#frames += 1;
      if (this.#phase === 'answering') this.#answerBytes += frame.length;
      this.#mayHaveFailed ||= mayHoldError(frame);
      if (isNote(frame) || (hidesUsage && isUsageFrame(frame))) continue;
      if (this.#phase === 'answering' && surface.isLastFrame(frame)) {
        this.#send(passed);
        passed = [];
        // What follows the last event is not part of the answer, in whichever chunk it came.
        this.#logWholeEvents();
        if (this.#mayHaveFailed) {
          this.#phase = 'recording';
          this.#assemble((assembled) => this.#recordEnd(assembled));
        } else this.#record(this.#options.answer.status, false, null);
      }
      passed.push(frame);
    }
    this.#send(passed);
    if (this.#splitter.isOverrun) this.#giveUp();
  }

  end(): void {
    if (!this.#splitter.isOverrun) this.#finish(null);
  }

  fail(error: AssayError): void {
    if (!this.#splitter.isOverrun) this.#finish(error);
  }

  /** The client left: its record says so, with what had come. */
  clientLeft(): void {
    this.#options.answer.stop();
    if (this.#phase === 'answering') this.#record(499, true, 'client_closed_request');
  }

  #send(frames: Buffer[]): void {
    if (frames.length === 0) return;
    if (this.#phase === 'answering') {
      this.#client.write(joinBytes(frames));
      return;
    }
    this.#behind.push(...frames);
    for (const { length } of frames) this.#behindBytes += length;
    if (this.#phase === 'recording' && this.#behindBytes > MAX_BEHIND_BYTES) this.#options.answer.pause();
    this.#sendBehind();
  }

  /** Once the record is committed; mostly the last event and the end of the stream, in one write. */
  #sendBehind(): void {
    if (this.#phase !== 'recorded') return;
    const bytes = joinBytes(this.#behind);
    const wasPaused = this.#behindBytes > MAX_BEHIND_BYTES;
    this.#behind = [];
    this.#behindBytes = 0;
    if (this.#isFinished) this.#client.end(bytes);
    else if (this.#client.write(bytes) && wasPaused) this.#options.answer.resume();
  }

  #log(chunk: Buffer): void {
    if (this.#phase !== 'answering' || this.#isCut) return;
    this.#loggedBytes += chunk.length;
    if (this.#loggedBytes > this.#options.maxLoggedBytes) this.#isCut = true;
    else this.#logged.push(chunk);
  }

  #logWholeEvents(): void {
    if (this.#loggedBytes <= this.#answerBytes) return;
    const whole = this.#logged.bytes().subarray(0, this.#answerBytes);
    this.#logged.clear();
    this.#logged.push(whole);
  }

  /** An event would not end, and who sends it is not listened to any more. */
  #giveUp(): void {
    const { answer, call, maxLoggedBytes } = this.#options;
    answer.stop();
    if (this.#phase === 'answering') this.#logWholeEvents();
    const message = `The provider ${call.route.row.label} sent an event of more than ${maxLoggedBytes} bytes`;
    this.#finish(new AssayError('provider_bad_answer', message));
  }

  /** Puts together what is logged, and goes on with it: at once, or of a long stream some turns later. */
  #assemble(goOn: (assembled: AssembledStream) => void): void {
    if (this.#loggedBytes <= ASSEMBLED_AT_ONCE_BYTES)
      goOn(assembleStream(this.#logged.bytes().toString('utf8')));
    else
      assembleInTurns(this.#logged.pieces())
        .then(goOn)
        .catch((error) => {
          if (this.#phase === 'answering') this.#breakOff(failedHere(error));
        });
  }

  #finish(broken: AssayError | null): void {
    if (this.#phase === 'answering') this.#assemble((assembled) => this.#conclude(assembled, broken));
    else this.#endWithRest();
  }

  /**
   * The connection closed, or broke. After the last event, or after a finish reason, the answer was whole all the same,
   * and a provider that has told an error has said why it is not; any other end is told as one.
   */
  #conclude(assembled: AssembledStream, broken: AssayError | null): void {
    // Unless the client left while the answer was put together.
    if (this.#phase === 'answering') {
      const { surface, route } = this.#options.call;
      const { complete, completion } = assembled;
      const isTold = complete || (completion.error ?? null) !== null;
      if (!isTold && (broken !== null || (surface.canStream && !this.#isCut))) {
        this.#breakOff(broken ?? endedEarly(route.row.label));
        return;
      }
      this.#recordEnd(assembled);
    }
    this.#endWithRest();
  }

  #endWithRest(): void {
    const rest = this.#splitter.rest();
    this.#endBehind(this.#options.call.hidesUsage && isUsageFrame(rest) ? [] : [rest]);
  }

  #endBehind(last: Buffer[]): void {
    this.#behind.push(...last);
    this.#isFinished = true;
    this.#sendBehind();
  }

  /** A torn event is not passed on: the error stands where it would have been, and no end follows. */
  #breakOff(error: AssayError): void {
    const { answer, call } = this.#options;
    this.#record(answer.status, true, error.code);
    this.#endBehind([Buffer.from(call.surface.errors.frame(errorDetails(error), this.#frames))]);
  }

  /** Not the usual end: the answer may be whole all the same, or an error have told why not. */
  #recordEnd({ completion, complete }: AssembledStream): void {
    const { status } = this.#options.answer;
    const told = errorStatus(completion.error);
    this.#record(told ?? status, told !== null || !complete, null);
  }

  #record(status: number, truncated: boolean, errorCode: string | null): void {
    this.#phase = 'recording';
    const responseBody = this.#logged.bytes();
    this.#logged.clear();
    const recorded = this.#options.record({
      status,
      responseBody,
      contentType: this.#options.answer.headers['content-type'] ?? null,
      contentEncoding: null,
      stream: true,
      ttftMs: this.#ttftMs,
      truncated: truncated || this.#isCut,
      errorCode,
    });
    void recorded.then(() => {
      this.#phase = 'recorded';
      this.#sendBehind();
    });
  }
}

function endedEarly(label: string): AssayError {
  return new AssayError('provider_bad_answer', `The provider ${label} ended its answer before it was whole`);
}
