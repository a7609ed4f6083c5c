import { readFrameData } from '#core/chat/mod.ts';
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';
import type { AnswerEvent, EventReader } from '../conversation.ts';
import { anthropicErrorType, statusOfError } from '../errors.ts';
import { callIdOf, failureOf, readResponseStop } from './read-response.ts';
import { BETWEEN_PARTS, readReasoning } from './reasoning.ts';
import { readResponseUsage } from './usage.ts';

/** Limit of tool calls in one answer, far above any real one; further calls are ignored. */
const MAX_CALLS = 1_000;

/** Statuses that an error's code would have had as a response of its own; other codes are the provider's own failures. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  rate_limit_exceeded: 429,
  invalid_prompt: 400,
  context_length_exceeded: 400,
};

/** A tool call: its place among the calls of the answer, from 0, and whether some of its arguments were emitted. */
type Call = { place: number; hasArguments: boolean };

/** Reads the events of a streamed answer of OpenAI's Responses. */
export class ResponseEventReader implements EventReader {
  readonly #emit: (event: AnswerEvent) => void;
  readonly #provider: string;
  /** The tool call at each place of the output. */
  readonly #callAt = new Map<unknown, Call>();
  /** True when some of the summary of the reasoning under way was emitted. */
  #hasThought = false;
  #hasStarted = false;
  #hasEnded = false;

  /**
   * @param emit takes the events, in order
   * @param provider the name of the provider that sends them
   */
  constructor(emit: (event: AnswerEvent) => void, provider: string) {
    this.#emit = emit;
    this.#provider = provider;
  }

  /** Returns null: each event has a number, and so no two have the same bytes around their text. */
  readRaw(): null {
    return null;
  }

  read(frame: string): void {
    const data = readFrameData(frame);
    if (data === null || this.#hasEnded || data.trim() === '[DONE]') return;
    const event: unknown = JSON.parse(data);
    if (!isObject(event)) return;
    const response = isObject(event.response) ? event.response : {};
    const item = isObject(event.item) ? event.item : {};
    const place = event.output_index;
    switch (event.type) {
      case 'response.created':
      case 'response.in_progress':
        this.#start(response);
        break;
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.#text(event.delta);
        break;
      case 'response.output_text.done':
      case 'response.refusal.done':
        this.#emit({ type: 'text_end' });
        break;
      case 'response.reasoning_summary_part.added':
        if (this.#hasThought) this.#think(BETWEEN_PARTS);
        break;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.#think(event.delta);
        break;
      case 'response.output_item.added':
        if (item.type === 'function_call') this.#beginCall(item, place);
        break;
      case 'response.function_call_arguments.delta':
        this.#arguments(this.#callAt.get(place), event.delta);
        break;
      case 'response.output_item.done':
        if (item.type === 'function_call') this.#endCall(item, place);
        else if (item.type === 'reasoning') this.#endReasoning(item);
        break;
      case 'response.completed':
      case 'response.incomplete':
        this.#end(response);
        break;
      case 'response.failed':
        this.#fail(response.error);
        break;
      case 'error':
        this.#fail(isObject(event.error) ? event.error : event);
        break;
    }
  }

  /** Emits nothing: the last event has the usage, and an answer without it broke off. */
  end(): void {}

  #start(response: JsonObject): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    const id = textOrNull(response.id) ?? '';
    this.#emit({ type: 'start', id, model: textOrNull(response.model) ?? '', usage: null });
  }

  #text(delta: unknown): void {
    if (typeof delta === 'string' && delta !== '')
      this.#emit({ type: 'text', literal: JSON.stringify(delta) });
  }

  #think(delta: unknown): void {
    if (typeof delta !== 'string' || delta === '') return;
    this.#hasThought = true;
    this.#emit({ type: 'thinking', literal: JSON.stringify(delta) });
  }

  #beginCall(item: JsonObject, place: unknown): Call | undefined {
    if (this.#callAt.size >= MAX_CALLS) return undefined;
    const call = { place: this.#callAt.size, hasArguments: false };
    this.#callAt.set(place, call);
    const id = callIdOf(item, call.place);
    this.#emit({ type: 'tool_call', call: call.place, id, name: textOrNull(item.name) ?? '' });
    return call;
  }

  #arguments(call: Call | undefined, delta: unknown): void {
    if (call === undefined || typeof delta !== 'string' || delta === '') return;
    call.hasArguments = true;
    this.#emit({ type: 'tool_arguments', call: call.place, literal: JSON.stringify(delta) });
  }

  /** Ends a call. Servers that send it at once send it only here. */
  #endCall(item: JsonObject, place: unknown): void {
    const call = this.#callAt.get(place) ?? this.#beginCall(item, place);
    if (call?.hasArguments === false) this.#arguments(call, item.arguments);
  }

  #endReasoning(item: JsonObject): void {
    const part = readReasoning(item, this.#provider);
    if (part?.type === 'thinking' && !this.#hasThought) this.#think(part.text);
    if (part !== null) this.#emit({ type: 'thinking_end', part });
    this.#hasThought = false;
  }

  #end(response: JsonObject): void {
    this.#hasEnded = true;
    this.#start(response);
    this.#emit({ type: 'stop', stop: readResponseStop(response, this.#callAt.size > 0) });
    this.#emit({ type: 'end', usage: readResponseUsage(response) });
  }

  #fail(error: unknown): void {
    this.#hasEnded = true;
    const details = isObject(error) ? error : {};
    const code = textOrNull(details.code) ?? '';
    const status = Object.hasOwn(STATUS_OF_CODE, code) ? STATUS_OF_CODE[code]! : statusOfError(details);
    this.#emit({ type: 'error', error: { type: anthropicErrorType(status), message: failureOf(details) } });
  }
}
