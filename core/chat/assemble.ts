/** Assembles a streamed answer into the object that the same call without `stream` would have returned. */
import { createParser } from 'eventsource-parser';
import { isObject, type JsonObject } from '../json-values/mod.ts';
import type { Assembler, StreamEvent } from './streams/assembler.ts';
import { CHAT } from './streams/chat.ts';
import { ChoicesAssembler, mergeHead } from './streams/choices.ts';
import { COMPLETIONS } from './streams/completions.ts';
import { type Dialect, dialectOf } from './streams/dialect.ts';
import { errorOf } from './streams/error.ts';
import { MessagesAssembler } from './streams/messages.ts';
import { ResponsesAssembler } from './streams/responses.ts';

/** The result of assembling a stream. */
export type AssembledStream = {
  /**
   * Shaped like the dialect's answer; holds the part received when the stream broke off. An error event of the stream
   * becomes its `error`. `{}` when no event could be read.
   */
  completion: JsonObject;
  /**
   * True when the answer is whole: a finish reason, a stop reason or the dialect's last event was seen. Chat completions
   * and completions also need a stream without an error: some servers send `[DONE]` even after one.
   */
  complete: boolean;
  /** Null when no event identified it. */
  dialect: Dialect | null;
};

/**
 * Assembles the raw text of an event stream, in time and memory linear in its length. The dialect is recognized by the
 * events. Events of no dialect, and events whose data is no JSON object, are ignored; never throws.
 */
export function assembleStream(text: string): AssembledStream {
  const stream = new Stream();
  const parser = createParser({ onEvent: ({ event, data }) => stream.take(event ?? null, data) });
  // The parser dispatches an event at its blank line: a last event without one still counts.
  parser.feed(`${text}\n\n`);
  return stream.end();
}

/** Bytes of one slice: a millisecond or two of events, and the overhead of slices does not show. */
const SLICE_BYTES = 64 * 1024;

/**
 * Assembles a stream of any length in slices, so that other calls go on meanwhile.
 * @param chunks the stream's bytes, cut anywhere
 * @param inTurns calls the slice it is given in turns of the event loop until it returns true, or rejects with its error
 */
export async function assembleInTurns(
  chunks: readonly Uint8Array[],
  inTurns: (slice: () => boolean) => Promise<void>,
): Promise<AssembledStream> {
  const stream = new Stream();
  const parser = createParser({ onEvent: ({ event, data }) => stream.take(event ?? null, data) });
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let [index, from] = [0, 0];
  await inTurns(() => {
    let bytes = 0;
    while (bytes < SLICE_BYTES && index < chunks.length) {
      const chunk = chunks[index]!;
      const piece = chunk.subarray(from, from + SLICE_BYTES - bytes);
      parser.feed(decoder.decode(piece, { stream: true }));
      bytes += piece.length;
      from += piece.length;
      if (from < chunk.length) continue;
      index += 1;
      from = 0;
    }
    return index === chunks.length;
  });
  parser.feed(`${decoder.decode()}\n\n`);
  return stream.end();
}

class Stream {
  /** Members of completion chunks that arrive before the first choice, such as Azure's filter results for the prompt. */
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
    // Text is what was merged of the chunk that has the error.
    if (hasError && !isObject(completion.error)) completion.error = this.#error;
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
