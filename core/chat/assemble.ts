/** A streamed answer put together again: the object that the same call without `stream` would have answered. */
import { createParser } from 'eventsource-parser';
import { isObject, type JsonObject } from '../json/mod.ts';
import type { Assembler, StreamEvent } from './streams/assembler.ts';
import { CHAT } from './streams/chat.ts';
import { ChoicesAssembler, mergeHead } from './streams/choices.ts';
import { COMPLETIONS } from './streams/completions.ts';
import { type Dialect, dialectOf } from './streams/dialect.ts';
import { errorOf } from './streams/error.ts';
import { MessagesAssembler } from './streams/messages.ts';
import { ResponsesAssembler } from './streams/responses.ts';

export type AssembledStream = {
  /**
   * Shaped like the dialect's answer, with what had come where the stream broke off; an error that the stream told is
   * its `error`. `{}` when no event could be read.
   */
  completion: JsonObject;
  /**
   * The answer is whole: a finish reason, a stop reason or the dialect's last event was seen. Of chat completions and
   * completions, also that no error was told, which some servers do before the `[DONE]` that they send all the same.
   */
  complete: boolean;
  /** Whose events they are; null when none told. */
  dialect: Dialect | null;
};

/**
 * Assembles the raw text of an event stream, in time and memory that grow with its length. The dialect is told by the
 * events. Those of no dialect, and those that are not JSON objects, are passed over; never throws.
 */
export function assembleStream(text: string): AssembledStream {
  const stream = new Stream();
  const parser = createParser({ onEvent: ({ event, data }) => stream.take(event ?? null, data) });
  // The parser dispatches an event at its blank line: a last event without one still counts.
  parser.feed(`${text}\n\n`);
  return stream.end();
}

/** So much is read in one turn of the event loop, in some 5 ms; with less, the turns themselves would count. */
const BYTES_A_TURN = 256 * 1024;

/**
 * Does the same with a stream of any length in several turns of the event loop, so that other calls go on meanwhile.
 * @param chunks the stream's bytes, cut anywhere
 */
export async function assembleInTurns(chunks: readonly Uint8Array[]): Promise<AssembledStream> {
  const stream = new Stream();
  const parser = createParser({ onEvent: ({ event, data }) => stream.take(event ?? null, data) });
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let bytes = 0;
  for (const chunk of chunks) {
    for (let from = 0; from < chunk.length; from += BYTES_A_TURN) {
      const piece = chunk.subarray(from, from + BYTES_A_TURN);
      parser.feed(decoder.decode(piece, { stream: true }));
      bytes += piece.length;
      if (bytes < BYTES_A_TURN) continue;
      bytes = 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  parser.feed(`${decoder.decode()}\n\n`);
  return stream.end();
}

class Stream {
  /** What chunks of completions tell before the first choice, such as Azure's filter of the prompt. */
  readonly #head: JsonObject = Object.create(null);
  #dialect: Dialect | null = null;
  #assembler: Assembler | null = null;
  #isDone = false;
  #error: unknown;

  take(name: string | null, data: string): void {
    if (data === '[DONE]') {
      this.#isDone = true;
      return;
    }
    const parsed = parse(data);
    if (isObject(parsed))
      this.#takeEvent({ type: typeof parsed.type === 'string' ? parsed.type : name, data: parsed });
    else if (name === 'error') this.#error ??= { message: data };
  }

  end(): AssembledStream {
    const isDone = this.#isDone;
    const hasError = this.#error !== undefined;
    const { completion, complete } = this.#assembler?.end({ isDone, hasError }) ?? {
      completion: this.#head,
      complete: isDone && !hasError,
    };
    if (hasError) completion.error ??= this.#error;
    return { completion, complete, dialect: this.#dialect };
  }

  #takeEvent(event: StreamEvent): void {
    this.#error ??= errorOf(event);
    if (this.#assembler === null) {
      this.#dialect = dialectOf(event);
      if (this.#dialect !== null) this.#assembler = this.#begin(this.#dialect);
    }
    if (this.#assembler === null) mergeHead(this.#head, event.data);
    else this.#assembler.take(event);
  }

  #begin(dialect: Dialect): Assembler {
    switch (dialect) {
      case 'chat':
        return new ChoicesAssembler(this.#head, CHAT);
      case 'completions':
        return new ChoicesAssembler(this.#head, COMPLETIONS);
      case 'responses':
        return new ResponsesAssembler();
      case 'messages':
        return new MessagesAssembler();
    }
  }
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}
