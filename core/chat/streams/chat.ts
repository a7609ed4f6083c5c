/** Chunks of chat completions: https://platform.openai.com/docs/api-reference/chat-streaming */
import { isObject, type JsonObject } from '../../json/mod.ts';
import { ByIndex } from './by-index.ts';
import { type Choice, type ChoiceForm, mergeRest } from './choices.ts';
import { appendItems, appendText, bare, mergePieces } from './members.ts';

export const CHAT: ChoiceForm = {
  object: 'chat.completion',
  begin: (index) => new ChatChoice(index),
};

class ChatChoice implements Choice {
  readonly #message = bare({ role: 'assistant', content: null });
  readonly #calls = new ByIndex<JsonObject>();
  readonly #choice: JsonObject;

  constructor(index: number) {
    this.#choice = bare({ index, message: this.#message, finish_reason: null });
  }

  merge(part: JsonObject): void {
    mergeRest(this.#choice, part, 'delta');
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
    else if (typeof value === 'string' && name !== 'role') appendText(message, name, value);
    else if (Array.isArray(value)) appendItems(message, name, value);
    else message[name] = value;
  }

  #mergeCalls(parts: unknown): void {
    this.#message.tool_calls = [];
    if (!Array.isArray(parts)) return;
    for (const part of parts) {
      if (!isObject(part)) continue;
      const { index, ...rest } = part;
      // Providers that send whole calls leave the index out: each is a new one.
      const at = typeof index === 'number' ? index : this.#calls.next;
      mergeCall(
        this.#calls.at(at, () => bare({})),
        rest,
      );
    }
  }
}

function mergeCall(call: JsonObject, part: JsonObject): void {
  for (const [name, value] of Object.entries(part)) {
    if (value === null) continue;
    if (name === 'function' && isObject(value)) call[name] = mergePieces(call[name], value, ['arguments']);
    else if (name === 'custom' && isObject(value)) call[name] = mergePieces(call[name], value, ['input']);
    else call[name] = value;
  }
}
