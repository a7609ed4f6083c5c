/** Chunks of a chat completion, read as events of an answer. Chunks that hold only content are not parsed: their frame is learned. */
import { errorOf, readFrameData } from '#core/chat/mod.ts';
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';
import type { AnswerEvent, EventReader, TokenUsage } from '../conversation.ts';
import { anthropicErrorType, statusOfError } from '../errors.ts';
import { UNSIGNED } from '../foreign-reasoning.ts';
import type { RawDelta } from '../raw-delta.ts';
import { type ContentFrame, learnContentFrame, readContentFrame } from './content-frame.ts';
import { failureMessage, isFailure, readFinish } from './finish.ts';
import { readContent } from './read-content.ts';
import { readCompletionUsage } from './usage.ts';

/** Limit of tool calls in one answer, far above any real one; further calls are ignored. */
const MAX_CALLS = 1_000;

/** After so many learned frames that did not match the next chunk, learning stops: this provider's chunks differ. */
const MAX_CONSECUTIVE_MISSES = 8;

/** A tool call: its place among the calls of the answer, from 0, and the provider's id for it, which may be empty. */
type Call = { place: number; id: string };

/** Reads the chunks of a streamed chat completion. */
export class ChunkReader implements EventReader {
  readonly #emit: (event: AnswerEvent) => void;
  #hasStarted = false;
  #hasDelta = false;
  #hasStopped = false;
  #usage: TokenUsage | null = null;
  /** Reasoning since the last other text; null when there is none. */
  #reasoning: string | null = null;
  /** Learned from the last chunk, when it held only content. */
  #contentFrame: ContentFrame | null = null;
  /** Learned frames in a row that did not match the next chunk. */
  #misses = 0;
  /** The tool call at each of the provider's indexes: the one that began last. */
  readonly #callAt = new Map<number, Call>();
  #calls = 0;
  /** The tool call that the previous part belonged to. */
  #lastCall: Call | null = null;

  /** @param emit takes the events, in order */
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
    const data = readFrameData(frame);
    if (data === null) return;
    if (data.trim() === '[DONE]') {
      this.#end();
      return;
    }
    const chunk: unknown = JSON.parse(data);
    if (!isObject(chunk)) return;
    const error = errorOfChunk(chunk);
    if (error !== null) this.#error(error);
    else {
      const content = this.#chunk(chunk);
      if (content !== null && this.#misses < MAX_CONSECUTIVE_MISSES)
        this.#contentFrame = learnContentFrame(chunk, content, frame);
    }
  }

  end(): void {
    if (this.#hasStopped) this.#emit({ type: 'end', usage: this.#usage });
  }

  #end(): void {
    if (!this.#hasStopped) this.#stop(null);
    this.#emit({ type: 'end', usage: this.#usage });
  }

  /** Reads a chunk; returns its content, or null. */
  #chunk(chunk: JsonObject): string | null {
    this.#usage = readCompletionUsage(chunk) ?? this.#usage;
    const choice = Array.isArray(chunk.choices)
      ? chunk.choices.find((one) => isObject(one) && (one.index ?? 0) === 0)
      : undefined;
    // Azure's first chunk has neither choices nor names, only what its filter says of the prompt.
    if (!this.#hasStarted && (choice !== undefined || textOrNull(chunk.id))) this.#start(chunk);
    if (choice === undefined) return null;
    // Some servers stream a whole completion as the one chunk. MiniMax ends a stream with such a chunk, which repeats its deltas.
    this.#hasDelta ||= isObject(choice.delta);
    const delta = this.#hasDelta ? choice.delta : choice.message;
    if (isObject(delta)) this.#delta(delta);
    const { finish_reason: reason } = choice;
    if (isFailure(reason)) this.#error({ message: failureMessage(reason) });
    else if (typeof reason === 'string' && reason !== '') this.#stop(reason);
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
    if (typeof reasoning === 'string' && reasoning !== '') this.#think(reasoning);
    for (const { type, text } of [delta.content, delta.refusal].flatMap(readContent)) {
      if (type === 'thinking') this.#think(text);
      else {
        this.#endReasoning();
        this.#emit({ type: 'text', literal: JSON.stringify(text) });
      }
    }
    if (Array.isArray(delta.tool_calls)) for (const part of delta.tool_calls) this.#toolCall(part);
  }

  #think(text: string): void {
    this.#reasoning = (this.#reasoning ?? '') + text;
    this.#emit({ type: 'thinking', literal: JSON.stringify(text) });
  }

  #toolCall(part: unknown): void {
    if (!isObject(part)) return;
    this.#endReasoning();
    const definition = isObject(part.function) ? part.function : {};
    const id = textOrNull(part.id) ?? '';
    const name = textOrNull(definition.name) ?? '';
    const index = typeof part.index === 'number' ? part.index : null;
    const call = this.#begunCall(index, id, name) ?? this.#beginCall(index, id, name);
    this.#lastCall = call;
    if (call === null) return;
    // Hugging Face's server sends them as an object.
    const text = isObject(definition.arguments) ? JSON.stringify(definition.arguments) : definition.arguments;
    if (typeof text === 'string' && text !== '')
      this.#emit({ type: 'tool_arguments', call: call.place, literal: JSON.stringify(text) });
  }

  /**
   * Returns the call that a part continues; null when it begins one. The log has the same rules. Ollama sends every call under
   * one index: a new id with a name begins another call. Providers that send whole calls leave the index out, so each part is
   * a new call, unless it has neither id nor name: Gemini continues a call that way.
   */
  #begunCall(index: number | null, id: string, name: string): Call | null {
    if (index === null) return id === '' && name === '' ? this.#lastCall : null;
    const call = this.#callAt.get(index) ?? null;
    const isAnother = call !== null && id !== '' && name !== '' && call.id !== '' && call.id !== id;
    return isAnother ? null : call;
  }

  /** Returns null beyond the limit. */
  #beginCall(index: number | null, id: string, name: string): Call | null {
    if (this.#calls >= MAX_CALLS) return null;
    const call = { place: this.#calls, id };
    this.#calls += 1;
    if (index !== null) this.#callAt.set(index, call);
    this.#emit({ type: 'tool_call', call: call.place, id: id || `call_${call.place}`, name });
    return call;
  }

  /** Ends the reasoning, which in this dialect has neither an end of its own nor a signature. */
  #endReasoning(): void {
    if (this.#reasoning === null) return;
    this.#emit({
      type: 'thinking_end',
      part: { type: 'thinking', text: this.#reasoning, signature: UNSIGNED },
    });
    this.#reasoning = null;
  }

  #stop(reason: string | null): void {
    if (this.#hasStopped) return;
    this.#endReasoning();
    this.#hasStopped = true;
    this.#emit({ type: 'stop', stop: readFinish(reason, this.#calls > 0) });
  }

  #error(error: JsonObject): void {
    const message = textOrNull(error.message) ?? 'The provider failed in the middle of its answer';
    // Anthropic's type by the status: OpenAI's types mean other things by the same names.
    this.#emit({ type: 'error', error: { type: anthropicErrorType(statusOfError(error)), message } });
  }
}

/** Returns the error that a chunk is; null: it is none. */
function errorOfChunk(chunk: JsonObject): JsonObject | null {
  if (isObject(chunk.error)) return chunk.error;
  const error = errorOf({ type: textOrNull(chunk.type), data: chunk });
  return isObject(error) ? error : null;
}
