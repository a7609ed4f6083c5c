import { isObject, type JsonObject } from '../../json-values/mod.ts';
import { ByIndex } from './by-index.ts';
import { appendItems, appendText, bare } from './members.ts';
import type { Place } from './response-places.ts';

/** A list of parts under assembly, and the object that it is a member of. */
type PartList = { owner: JsonObject; place: Place; parts: ByIndex<JsonObject> };

/** An item of a response's output, as it grows. */
export class ResponseItem {
  readonly #item: JsonObject;
  readonly #lists = new Map<string, PartList>();

  /** @param item the item of its first event, or the whole item */
  constructor(item: JsonObject) {
    this.#item = bare(item);
  }

  /** Makes the item of an event whose item was never added. */
  static ofEvent({ item: type }: Place, event: JsonObject): ResponseItem {
    const id = typeof event.item_id === 'string' ? { id: event.item_id } : {};
    return new ResponseItem({ ...id, type, ...(type === 'message' ? { role: 'assistant' } : {}) });
  }

  /**
   * Merges an event into the item.
   * @param place the place of `type`, the event's type
   */
  merge(place: Place, type: string, event: JsonObject): void {
    if (isObject(event.part)) this.#mergePart(place, type, event.part, event);
    else if (type.endsWith('.delta')) this.#mergeDelta(this.#holder(place, event), place, event);
    else if (type.endsWith('.annotation.added'))
      appendItems(this.#holder(place, event), 'annotations', [event.annotation]);
    else if (typeof event[place.text] === 'string')
      this.#holder(place, event)[place.text] = event[place.text];
  }

  /** @param status null when the event has none */
  setStatus(status: string | null): void {
    if (status !== null) this.#item.status = status;
  }

  end(): JsonObject {
    for (const { owner, place, parts } of this.#lists.values()) {
      const list = parts.list();
      owner[place.list!.name] = place.areBare ? list.map((part) => part[place.text]) : list;
    }
    return this.#item;
  }

  /** Merges a whole part: the one of a `done` event replaces the assembled one. */
  #mergePart(place: Place, type: string, part: JsonObject, event: JsonObject): void {
    if (place.list === undefined) return;
    const { parts } = this.#listAt(place);
    const index = event[place.list.index];
    if (type.endsWith('.done')) parts.replace(index, bare(part));
    else parts.at(index, () => bare(part));
  }

  #mergeDelta(holder: JsonObject, place: Place, event: JsonObject): void {
    appendText(holder, place.text, event.delta);
    const { logprobs } = event;
    if (Array.isArray(logprobs) && logprobs.length > 0) appendItems(holder, 'logprobs', logprobs);
  }

  /** Returns the object that holds the text: a part, a member, or the item. */
  #holder(place: Place, event: JsonObject): JsonObject {
    const { list } = place;
    if (list === undefined) return this.#owner(place);
    return this.#listAt(place).parts.at(event[list.index], () => bare(list.part));
  }

  #listAt(place: Place): PartList {
    const name = place.list!.name;
    let found = this.#lists.get(name);
    if (found === undefined) {
      found = { owner: this.#owner(place), place, parts: new ByIndex() };
      this.#lists.set(name, found);
      const begun = found.owner[name];
      for (const part of Array.isArray(begun) ? begun : []) {
        found.parts.begin(found.parts.next, isObject(part) ? part : { [place.text]: part });
      }
    }
    return found;
  }

  #owner({ within }: Place): JsonObject {
    if (within === undefined) return this.#item;
    const member = this.#item[within];
    if (isObject(member)) return member;
    const made = bare({});
    this.#item[within] = made;
    return made;
  }
}
