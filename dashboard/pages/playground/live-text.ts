/** The text of an answer while it streams in, in any of the three dialects. What else it holds is shown at its end. Pure. */
import { isObject } from '#core/json-values/mod.ts';

/** Returns the text that an event adds. */
function textOf(event: unknown): string {
  if (!isObject(event)) return '';
  const { type, delta, choices } = event;
  if (type === 'response.output_text.delta' && typeof delta === 'string') return delta;
  if (type === 'content_block_delta' && isObject(delta))
    return typeof delta.text === 'string' ? delta.text : '';
  const [choice] = Array.isArray(choices) ? (choices as unknown[]) : [];
  if (!isObject(choice) || !isObject(choice.delta)) return '';
  return typeof choice.delta.content === 'string' ? choice.delta.content : '';
}

function dataOf(frame: string): string {
  return frame
    .split(/\r\n|\r|\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(line[5] === ' ' ? 6 : 5))
    .join('\n');
}

/** What ends an event. */
const END = /\r\n\r\n|\n\n|\r\r(?!\n)/;
/** Characters of the longest end that may have come already while the rest of it is still to come. */
const LONGEST_BEGINNING = 3;
/** UTF-16 code units of an event that has not ended. Text comes in events of some hundred. */
const MOST = 1024 * 1024;
const GIVEN_UP = '\n[An event of this stream is longer than 1 MiB: what follows is shown at its end]';

/** Reads an event stream piece by piece. */
export class LiveText {
  /** What came of the event that has not ended, but its last characters. In pieces, so that each is searched only once. */
  #before: string[] = [];
  #last = '';
  #length = 0;
  #isGivenUp = false;

  /** Returns the text that a piece of the stream adds, wherever it was cut. */
  take(piece: string): string {
    if (this.#isGivenUp) return '';
    const [first, ...others] = (this.#last + piece).split(END);
    let text = '';
    let rest = first!;
    for (const next of others) {
      text += this.#read(dataOf(this.#before.join('') + rest));
      this.#before = [];
      this.#length = 0;
      rest = next;
    }
    return text + this.#keep(rest);
  }

  /** Keeps the rest of a piece; returns what is to be said of it. */
  #keep(rest: string): string {
    this.#last = rest.slice(-LONGEST_BEGINNING);
    const before = rest.slice(0, -LONGEST_BEGINNING);
    this.#before.push(before);
    this.#length += before.length;
    if (this.#length <= MOST) return '';
    this.#isGivenUp = true;
    this.#before = [];
    return GIVEN_UP;
  }

  #read(data: string): string {
    if (!data.startsWith('{')) return '';
    try {
      return textOf(JSON.parse(data));
    } catch {
      return '';
    }
  }
}
