import { joinBytes } from '#platform/http-message/mod.ts';
import type { AnswerEvent, EventReader, EventWriter } from '../dialects/mod.ts';
import { SseSplitter } from '../response/sse-splitter.ts';

type MakeReader = (emit: (event: AnswerEvent) => void) => EventReader;

/** Translates a streamed answer by a reader of one dialect and a writer of the other: bytes in, whole frames out. */
export class StreamTranslator {
  readonly #splitter: SseSplitter;
  readonly #reader: EventReader;
  readonly #writer: EventWriter;
  /** Frames since the last buffer that was returned. */
  #written: Buffer[] = [];
  #text = '';
  #frames: Buffer[] = [];
  #isComplete = false;
  #hasFailed = false;

  /** @param maxEventBytes limit of one event of the provider's */
  constructor(maxEventBytes: number, makeReader: MakeReader, writer: EventWriter) {
    this.#splitter = new SseSplitter(maxEventBytes);
    this.#reader = makeReader((event) => this.#take(event));
    this.#writer = writer;
  }

  /** True when the end was written: nothing follows. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** True when an event exceeded the limit: the events before it were written, and nothing follows. */
  get isOverrun(): boolean {
    return this.#splitter.isOverrun;
  }

  /**
   * Takes bytes; returns their events as one buffer of whole frames. The frames of the end come in buffers of their own:
   * OpenAI's usage chunk, which the client may not have asked for, and the last frame, which waits for the record.
   */
  push(chunk: Buffer): Buffer[] {
    for (const frame of this.#splitter.push(chunk)) this.#read(frame);
    return this.#flush();
  }

  /** Ends the stream. The rest may be an event whose blank line is missing; a torn event is dropped. */
  end(): Buffer[] {
    const rest = this.#splitter.rest();
    if (rest.length > 0 && !this.#isOver) {
      try {
        this.#reader.read(`${rest.toString('utf8')}\n\n`);
      } catch {
        // Torn in the middle.
      }
    }
    if (!this.#isOver) this.#reader.end();
    return this.#flush();
  }

  get #isOver(): boolean {
    return this.#isComplete || this.#hasFailed;
  }

  #read(frame: Buffer): void {
    if (this.#isOver) return;
    const raw = this.#reader.readRaw(frame);
    if (raw !== null) {
      this.#endText();
      this.#written.push(this.#writer.writeRaw(raw, frame));
      return;
    }
    try {
      this.#reader.read(frame.toString('utf8'));
    } catch {
      const message = 'The provider sent an event that is not valid JSON';
      this.#take({ type: 'error', error: { type: 'api_error', message } });
    }
  }

  #take(event: AnswerEvent): void {
    if (event.type !== 'end') {
      if (event.type === 'error') this.#hasFailed = true;
      this.#text += this.#writer.write(event);
      return;
    }
    this.#cut();
    this.#isComplete = true;
    for (const frame of this.#writer.writeEnd(event.usage)) this.#frames.push(Buffer.from(frame));
  }

  #endText(): void {
    if (this.#text !== '') this.#written.push(Buffer.from(this.#text, 'utf8'));
    this.#text = '';
  }

  #cut(): void {
    this.#endText();
    if (this.#written.length === 0) return;
    this.#frames.push(joinBytes(this.#written));
    this.#written = [];
  }

  #flush(): Buffer[] {
    this.#cut();
    const frames = this.#frames;
    this.#frames = [];
    return frames;
  }
}
