import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';
import { anthropicErrorType, statusOfErrorType } from '../errors.ts';
import type { AnswerEvent, EventReader, TokenUsage } from '../form.ts';
import { frameData } from '../frame.ts';
import type { RawDelta } from '../raw-delta.ts';
import { type ContentFrame, contentFrame, readContentFrame } from './content-frame.ts';
import { readFinish } from './finish.ts';
import { readCompletionUsage } from './usage.ts';

/** More calls than this in one answer are no answer. */
const MAX_CALLS = 1_000;

/** A provider whose chunks differ each time is not learned from for ever. */
const MAX_MISSES = 8;

/** Reads the chunks of a streamed chat completion. */
export class ChunkReader implements EventReader {
  readonly #emit: (event: AnswerEvent) => void;
  #hasStarted = false;
  #hasStopped = false;
  #usage: TokenUsage | null = null;
  /** Reasoning since the last other text; null when there is none. */
  #reasoning: string | null = null;
  /** The frame of the last chunk, when it held content alone. */
  #contentFrame: ContentFrame | null = null;
  /** Frames in a row that were learned for nothing. */
  #misses = 0;
  /** Calls by the provider's index: our count of them. */
  readonly #calls = new Map<number, number>();

  /** @param emit takes what happens, in order */
  constructor(emit: (event: AnswerEvent) => void) {
    this.#emit = emit;
  }

  readRaw(frame: Buffer): RawDelta | null {
    if (this.#contentFrame === null) return null;
    const raw = readContentFrame(this.#contentFrame, frame);
    if (raw !== null) this.#misses = 0;
    return raw;
  }

  read(frame: string): void {
    if (this.#contentFrame !== null) this.#misses += 1;
    this.#contentFrame = null;
    const data = frameData(frame);
    if (data === null) return;
    if (data.trim() === '[DONE]') {
      this.#end();
      return;
    }
    const chunk: unknown = JSON.parse(data);
    if (!isObject(chunk)) return;
    if (isObject(chunk.error)) this.#error(chunk.error);
    else {
      const content = this.#chunk(chunk);
      if (content !== null && this.#misses < MAX_MISSES)
        this.#contentFrame = contentFrame(chunk, content, frame);
    }
  }

  end(): void {
    if (this.#hasStopped) this.#emit({ type: 'end', usage: this.#usage });
  }

  #end(): void {
    if (!this.#hasStopped) this.#stop(null);
    this.#emit({ type: 'end', usage: this.#usage });
  }

  /** Returns the content, when there is some. */
  #chunk(chunk: JsonObject): string | null {
    this.#usage = readCompletionUsage(chunk) ?? this.#usage;
    if (!this.#hasStarted) this.#start(chunk);
    const choice = Array.isArray(chunk.choices)
      ? chunk.choices.find((one) => isObject(one) && (one.index ?? 0) === 0)
      : undefined;
    if (choice === undefined) return null;
    if (isObject(choice.delta)) this.#delta(choice.delta);
    if (typeof choice.finish_reason === 'string') this.#stop(choice.finish_reason);
    const content = isObject(choice.delta) ? choice.delta.content : null;
    return typeof content === 'string' && content !== '' ? content : null;
  }

  #start(chunk: JsonObject): void {
    this.#hasStarted = true;
    const id = textOrNull(chunk.id) ?? '';
    this.#emit({ type: 'start', id, model: textOrNull(chunk.model) ?? '', usage: this.#usage });
  }

  #delta(delta: JsonObject): void {
    const reasoning = delta.reasoning_content ?? delta.reasoning;
    if (typeof reasoning === 'string' && reasoning !== '') {
      this.#reasoning = (this.#reasoning ?? '') + reasoning;
      this.#emit({ type: 'thinking', literal: JSON.stringify(reasoning) });
    }
    for (const text of [delta.content, delta.refusal]) {
      if (typeof text !== 'string' || text === '') continue;
      this.#endReasoning();
      this.#emit({ type: 'text', literal: JSON.stringify(text) });
    }
    if (Array.isArray(delta.tool_calls)) for (const part of delta.tool_calls) this.#toolCall(part);
  }

  #toolCall(part: unknown): void {
    if (!isObject(part)) return;
    this.#endReasoning();
    const definition = isObject(part.function) ? part.function : {};
    // Providers that send whole calls leave the index out: each is a new one.
    const index = typeof part.index === 'number' ? part.index : -1 - this.#calls.size;
    let call = this.#calls.get(index);
    if (call === undefined) {
      if (this.#calls.size >= MAX_CALLS) return;
      call = this.#calls.size;
      this.#calls.set(index, call);
      const id = textOrNull(part.id) || `call_${call}`;
      this.#emit({ type: 'tool_call', call, id, name: textOrNull(definition.name) ?? '' });
    }
    const text = definition.arguments;
    if (typeof text === 'string' && text !== '')
      this.#emit({ type: 'tool_arguments', call, literal: JSON.stringify(text) });
  }

  /** Reasoning has no end of its own in this dialect, and no signature. */
  #endReasoning(): void {
    if (this.#reasoning === null) return;
    this.#emit({ type: 'thinking_end', part: { type: 'thinking', text: this.#reasoning, signature: '' } });
    this.#reasoning = null;
  }

  #stop(reason: string | null): void {
    if (this.#hasStopped) return;
    this.#endReasoning();
    this.#hasStopped = true;
    this.#emit({ type: 'stop', stop: readFinish(reason, this.#calls.size > 0) });
  }

  #error(error: JsonObject): void {
    const type = textOrNull(error.type) ?? 'api_error';
    const message = textOrNull(error.message) ?? 'The provider failed in the middle of its answer';
    // Anthropic's name for it: OpenAI's mean other things by the same names.
    this.#emit({ type: 'error', error: { type: anthropicErrorType(statusOfErrorType(type)), message } });
  }
}
