/** Events of OpenAI's Responses: https://platform.openai.com/docs/api-reference/responses-streaming */
import { isObject, type JsonObject } from '../../json/mod.ts';
import type { Assembled, Assembler, StreamEvent } from './assembler.ts';
import { ByIndex } from './by-index.ts';
import { bare } from './members.ts';
import { ResponseItem } from './response-item.ts';
import { placeOf, statusOf } from './response-places.ts';

/** The events that end an answer, each with the whole of it. */
const LAST = new Set<string | null>(['response.completed', 'response.incomplete', 'response.failed']);

export class ResponsesAssembler implements Assembler {
  /** As it was last told, without what came since. */
  #response: JsonObject = { object: 'response', output: [] };
  /** By their place in the output: some providers give an item another id in each of its events. */
  readonly #items = new ByIndex<ResponseItem>();
  #hasEnded = false;

  take({ type, data }: StreamEvent): void {
    if (type === null || this.#hasEnded) return;
    const { response, item, output_index: index } = data;
    if (LAST.has(type)) this.#last(response);
    else if (isObject(response)) this.#told(response);
    else if (!isObject(item)) this.#takePart(type, data);
    else if (type === 'response.output_item.added') this.#items.begin(index, new ResponseItem(item));
    else if (type === 'response.output_item.done') this.#items.replace(index, new ResponseItem(item));
  }

  end(): Assembled {
    const { output } = this.#response;
    // Of a failed answer the last event may not say what had come.
    const isTold = this.#hasEnded && Array.isArray(output) && output.length > 0;
    if (!isTold && !this.#items.isEmpty) {
      this.#response.output = this.#items.list().map((item) => item.end());
    }
    return { completion: this.#response, complete: this.#hasEnded };
  }

  /** It began, or waits, or goes on; with output where a stream is taken up again in the middle. */
  #told(response: JsonObject): void {
    this.#response = bare(response);
    const { output } = response;
    for (const [index, item] of Array.isArray(output) ? output.entries() : []) {
      if (isObject(item)) this.#items.at(index, () => new ResponseItem(item));
    }
  }

  /** The whole answer; some providers leave out what they had told before. */
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
