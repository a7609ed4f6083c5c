/**
 * Finds the end of a run of bytes that represent themselves in a JSON string, four bytes at a time, and in a very long run by
 * native searches. A byte at a time takes longer on the text of a large body than `JSON.parse`; four at a time take a third of
 * that, and native searches half of the third.
 */
import { PLAIN } from './json-bytes.ts';

const WORD_BYTES = 4;
/** Below this length, the words are not worth their view. */
const MIN_BYTES = 256;
/** Words of a run after which native searches pay for their calls: images in base64, and text without line breaks. */
const LONG_RUN_WORDS = 512;

const [QUOTE, BACKSLASH] = [0x22, 0x5c];

/** Each byte of a word. */
const [ONES, HIGH_BITS] = [0x01010101, 0x80808080 | 0];
const [FIRST_PLAIN, QUOTES, BACKSLASHES] = [0x20 * ONES, 0x22 * ONES, 0x5c * ONES];

/**
 * Returns whether one of the four bytes is a quote, a backslash or a control character. `(word - n) & ~word` has the highest
 * bit of a byte set when a byte is below n: of the lowest such byte surely, and of no byte when there is none
 * (Hacker's Delight, section 6-1).
 */
function hasSpecial(word: number): boolean {
  const quotes = word ^ QUOTES;
  const backslashes = word ^ BACKSLASHES;
  const found =
    ((word - FIRST_PLAIN) & ~word) | ((quotes - ONES) & ~quotes) | ((backslashes - ONES) & ~backslashes);
  return (found & HIGH_BITS) !== 0;
}

/** Has the highest bit of a byte set when one of the word is a control character; see `hasSpecial`. */
function controlBits(word: number): number {
  return (word - FIRST_PLAIN) & ~word;
}

/** Returns the index of the first word in `[from, to)` that has a control character; `to`: none has. */
function controlFreeEnd(words: Int32Array, from: number, to: number): number {
  let index = from;
  for (; index + 4 <= to; index += 4) {
    const found =
      controlBits(words[index]!) |
      controlBits(words[index + 1]!) |
      controlBits(words[index + 2]!) |
      controlBits(words[index + 3]!);
    if ((found & HIGH_BITS) !== 0) break;
  }
  while (index < to && (controlBits(words[index]!) & HIGH_BITS) === 0) index += 1;
  return index;
}

/** Bytes in which runs are searched. */
export class PlainRuns {
  readonly #bytes: Buffer;
  /** The bytes from `#firstWord` on as words; null: there are too few. */
  readonly #words: Int32Array | null;
  /** Where the first word begins: words are aligned in memory. */
  readonly #firstWord: number;
  /** A position up to which no quote follows the last search. */
  #quoteFreeTo = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#firstWord = -bytes.byteOffset & (WORD_BYTES - 1);
    this.#words =
      bytes.length < MIN_BYTES
        ? null
        : new Int32Array(
            bytes.buffer,
            bytes.byteOffset + this.#firstWord,
            Math.floor((bytes.length - this.#firstWord) / WORD_BYTES),
          );
  }

  /** Returns the position of the first byte in `[from, to)` that does not represent itself; `to`: all do. */
  end(from: number, to: number): number {
    const bytes = this.#bytes;
    let at = from;
    while (at < to && PLAIN[bytes[at]!] === 1) {
      at += 1;
      if (this.#words !== null && ((at - this.#firstWord) & (WORD_BYTES - 1)) === 0)
        at = this.#endInWords(this.#words, at, to);
    }
    return at;
  }

  /** Returns the position of the first word in `[from, to)` that may have such a byte, or of the rest that is no whole word. */
  #endInWords(words: Int32Array, from: number, to: number): number {
    const first = (from - this.#firstWord) >> 2;
    const last = (to - this.#firstWord) >> 2;
    const near = Math.min(last, first + LONG_RUN_WORDS);
    let index = first;
    while (index < near && !hasSpecial(words[index]!)) index += 1;
    if (index === near && near < last) {
      const special = this.#nextSpecial(this.#firstWord + index * WORD_BYTES, to);
      index = controlFreeEnd(words, index, (special - this.#firstWord) >> 2);
    }
    return this.#firstWord + index * WORD_BYTES;
  }

  /** Returns the position of the first quote or backslash in `[from, to)`; `to`: there is none. */
  #nextSpecial(from: number, to: number): number {
    // Kept, so that text with many backslashes is not searched for its end after each.
    if (this.#quoteFreeTo <= from) {
      const quote = this.#bytes.subarray(from, to).indexOf(QUOTE);
      this.#quoteFreeTo = quote === -1 ? to : from + quote;
    }
    const end = Math.min(this.#quoteFreeTo, to);
    const backslash = this.#bytes.subarray(from, end).indexOf(BACKSLASH);
    return backslash === -1 ? end : from + backslash;
  }
}
