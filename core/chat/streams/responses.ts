/** Events of OpenAI's Responses: https://platform.openai.com/docs/api-reference/responses-streaming */
import { isObject, type JsonObject } from '../../json-values/mod.ts';
import type { Assembled, Assembler, StreamEvent } from './assembler.ts';
import { ByIndex } from './by-index.ts';
import { bare } from './members.ts';
import { ResponseItem } from './response-item.ts';
import { placeOf, statusOf } from './response-places.ts';

/** The events that end an answer; each holds the whole answer. */
const LAST = new Set<string | null>(['response.completed', 'response.incomplete', 'response.failed']);

/** Assembles a response. */
export class ResponsesAssembler implements Assembler {
  /** The answer of the last event that held it, without later parts. */
  #response: JsonObject = { object: 'response', output: [] };
  /** Items by `output_index`: some providers give an item another id in each of its events. */
  readonly #items = new ByIndex<ResponseItem>();
  #hasEnded = false;

  take({ type, data }: StreamEvent): void {
    if (type === null || this.#hasEnded) return;
    const { response, item, output_index: index } = data;
    if (LAST.has(type)) this.#last(response);
    else if (isObject(response)) this.#setResponse(response);
    else if (!isObject(item)) this.#takePart(type, data);
    else if (type === 'response.output_item.added') this.#items.begin(index, new ResponseItem(item));
    else if (type === 'response.output_item.done') this.#items.replace(index, new ResponseItem(item));
  }

  end(): Assembled {
    const { output } = this.#response;
    // The last event of a failed answer may lack the output received before.
    const hasOutput = this.#hasEnded && Array.isArray(output) && output.length > 0;
    if (!hasOutput && !this.#items.isEmpty) {
      this.#response.output = this.#items.list().map((item) => item.end());
    }
    return { completion: this.#response, complete: this.#hasEnded };
  }

  /** Takes the answer of an event in the stream's course. It has output when a stream is resumed in the middle. */
  #setResponse(response: JsonObject): void {
    this.#response = bare(response);
    const { output } = response;
    for (const [index, item] of Array.isArray(output) ? output.entries() : []) {
      if (isObject(item)) this.#items.at(index, () => new ResponseItem(item));
    }
  }

  /** Takes the whole answer; some providers leave out members that earlier events had. */
  #last(response: unknown): void {
    this.#hasEnded = true;
    if (!isObject(response)) return;
    const isWhole = Array.isArray(response.output);
    this.#response = bare(isWhole ? response : { ...this.#response, ...response });
  }

  #takePart(type: string, event: JsonObject): void {
    const place = placeOf(type);
    const index = event.output_index;
    if (place !== null)
      this.#items.at(index, () => ResponseItem.ofEvent(place, event)).merge(place, type, event);
    else this.#items.find(index)?.setStatus(statusOf(type));
  }
}
