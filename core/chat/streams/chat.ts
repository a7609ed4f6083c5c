/** Chunks of chat completions: https://platform.openai.com/docs/api-reference/chat-streaming */
import { isObject, type JsonObject } from '../../json-values/mod.ts';
import { ByIndex } from './by-index.ts';
import { type Choice, type ChoiceForm, mergeRest } from './choices.ts';
import { mergeContent } from './content-parts.ts';
import { appendItems, appendText, bare, isKnown, mergePieces } from './members.ts';

/** Chat completions, for `ChoicesAssembler`. */
export const CHAT: ChoiceForm = {
  object: 'chat.completion',
  begin: (index) => new ChatChoice(index),
};

class ChatChoice implements Choice {
  readonly #message = bare({ role: 'assistant', content: null });
  readonly #calls = new ByIndex<JsonObject>();
  /** The tool call that the previous part belonged to. */
  #lastCall: JsonObject | null = null;
  readonly #choice: JsonObject;

  constructor(index: number) {
    this.#choice = bare({ index, message: this.#message, finish_reason: null });
  }

  merge(part: JsonObject): void {
    mergeRest(this.#choice, part);
    if (!isObject(part.delta)) return;
    for (const [name, value] of Object.entries(part.delta)) {
      if (value !== null) this.#mergeMember(name, value);
    }
  }

  end(): JsonObject {
    if ('tool_calls' in this.#message) this.#message.tool_calls = this.#calls.list();
    return this.#choice;
  }

  /** Texts and lists grow; `role` and other plain values are set; tool calls are merged by their index. */
  #mergeMember(name: string, value: unknown): void {
    const message = this.#message;
    if (name === 'tool_calls') this.#mergeCalls(value);
    else if (name === 'function_call' && isObject(value))
      message[name] = mergePieces(message[name], value, ['arguments']);
    else if (name === 'audio' && isObject(value))
      message[name] = mergePieces(message[name], value, ['data', 'transcript']);
    else if (name === 'content') mergeContent(message, value);
    else if (typeof value === 'string' && name !== 'role') appendText(message, name, value);
    else if (Array.isArray(value)) appendItems(message, name, value);
    else if (isKnown(message[name], value)) message[name] = value;
  }

  #mergeCalls(parts: unknown): void {
    this.#message.tool_calls = [];
    if (!Array.isArray(parts)) return;
    for (const part of parts) {
      if (!isObject(part)) continue;
      const { index, ...rest } = part;
      this.#lastCall = typeof index === 'number' ? this.#callAt(index, rest) : this.#callWithout(rest);
      mergeCall(this.#lastCall, rest);
    }
  }

  /** Finds the call at an index. Ollama sends every call under one index: a new id with a name begins another call. */
  #callAt(index: number, part: JsonObject): JsonObject {
    const call = this.#calls.at(index, () => bare({}));
    const isAnother = isNonEmpty(part.id) && isNonEmpty(call.id) && part.id !== call.id && isNamed(part);
    return isAnother ? this.#calls.begin(index, bare({})) : call;
  }

  /**
   * Finds the call of a part without an index. Providers that send whole calls leave the index out, so each part is a
   * new call, unless it has neither id nor name: Gemini continues a call that way.
   */
  #callWithout(part: JsonObject): JsonObject {
    if (this.#lastCall !== null && !isNonEmpty(part.id) && !isNamed(part)) return this.#lastCall;
    return this.#calls.begin(this.#calls.next, bare({}));
  }
}

function isNonEmpty(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isNamed({ function: called, custom }: JsonObject): boolean {
  return [called, custom].some((kind) => isObject(kind) && isNonEmpty(kind.name));
}

function mergeCall(call: JsonObject, part: JsonObject): void {
  for (const [name, value] of Object.entries(part)) {
    if (name === 'function' && isObject(value)) call[name] = mergePieces(call[name], value, ['arguments']);
    else if (name === 'custom' && isObject(value)) call[name] = mergePieces(call[name], value, ['input']);
    else if (isKnown(call[name], value)) call[name] = value;
  }
}
