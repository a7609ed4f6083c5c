/** The bodies of a record, kept to be asked about. Pure: the worker holds one of each open record. */
import { ConversationReader } from '../conversation/model/conversation-reader.ts';
import type { ConversationPage, Side } from '../conversation/model/types.ts';
import type { BodyMethods, Children, ImageBytes, LinePage, SearchResult, TextPiece } from './body-methods.ts';
import type { JsonNode } from './json-node.ts';
import { LineIndex } from './line-index.ts';
import { childrenOf, nodeOf, sliceWhole, valueAt } from './nodes.ts';
import type { Path } from './path.ts';
import { printJson } from './print-json.ts';
import { readImage } from './read-image.ts';
import { searchBodies } from './search-bodies.ts';

/** UTF-16 code units of a piece of a text. */
const LONGEST_PIECE = 64 * 1024;
/** UTF-16 code units for the clipboard. */
const LONGEST_COPY = 8 * 1024 * 1024;

export type BodyValues = Readonly<Record<Side, unknown>> & { status: number };

export class Bodies implements BodyMethods {
  readonly #values: Readonly<Record<Side, unknown>>;
  readonly #conversations: Readonly<Record<Side, ConversationReader>>;
  readonly #lines = new Map<Side, LineIndex>();

  constructor({ request, response, status }: BodyValues) {
    this.#values = { request, response };
    this.#conversations = {
      request: new ConversationReader('request', request, status),
      response: new ConversationReader('response', response, status),
    };
  }

  node(path: Path): JsonNode | null {
    const value = this.#at(path);
    const step = path.at(-1) ?? '';
    return value === undefined ? null : nodeOf(step, String(step), value);
  }

  children(path: Path, from: number, count: number): Children {
    return childrenOf(this.#at(path), from, count);
  }

  text(path: Path, from: number, to: number): TextPiece {
    const value = this.#at(path);
    if (typeof value !== 'string') return { text: '', from: 0, to: 0, length: 0 };
    const end = Math.min(value.length, to, from + LONGEST_PIECE);
    return { text: sliceWhole(value, from, end), from, to: end, length: value.length };
  }

  copy(path: Path): string | null {
    const value = this.#at(path);
    const text = typeof value === 'string' ? value : printJson(value);
    return text.length > LONGEST_COPY ? null : text;
  }

  image(path: Path): ImageBytes {
    const value = this.#at(path);
    return typeof value === 'string'
      ? readImage(value)
      : { kind: 'refused', reason: 'There is no image here' };
  }

  search(text: string): SearchResult {
    return searchBodies(this.#values, text);
  }

  lines(side: Side, from: number, count: number): LinePage {
    let index = this.#lines.get(side);
    if (index === undefined) {
      index = new LineIndex(printJson(this.#values[side]));
      this.#lines.set(side, index);
    }
    return index.page(from, count);
  }

  conversation(side: Side, from: number, count: number): ConversationPage {
    return this.#conversations[side].page(from, count);
  }

  #at([root, ...path]: Path): unknown {
    // Values that are in no body as they are shown: arguments parsed out of a string, parameters without the messages.
    if (root === 'kept-request' || root === 'kept-response') {
      const [place, ...rest] = path;
      const side = root === 'kept-request' ? 'request' : 'response';
      return valueAt(this.#conversations[side].keptAt(String(place)), rest);
    }
    return root === 'request' || root === 'response' ? valueAt(this.#values[root], path) : undefined;
  }
}
