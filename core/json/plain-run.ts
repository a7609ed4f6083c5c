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
const [CONTROL_END, SWAP, SWAPPED_END, BACKSLASHES] = [0x20 * ONES, 0x02 * ONES, 0x21 * ONES, 0x5c * ONES];

/**
 * Returns the highest bit of each of the four bytes that is a quote, a backslash or a control character. `(word - n) & ~word`
 * has the highest bit of a byte set when a byte is below n: of the lowest such byte surely, and of no byte when there is none;
 * of the bytes above the lowest it may be wrong (Hacker's Delight, section 6-1). The quote is brought next to the control
 * characters by changing places with the space: 0x22 and 0x20 differ in one bit.
 */
function specialBits(word: number): number {
  const swapped = word ^ SWAP;
  const backslashes = word ^ BACKSLASHES;
  return (((swapped - SWAPPED_END) & ~swapped) | ((backslashes - ONES) & ~backslashes)) & HIGH_BITS;
}

/** Has the highest bit of a byte set when one of the word is a control character; see `specialBits`. */
function controlBits(word: number): number {
  return (word - CONTROL_END) & ~word;
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

const NO_WORDS = new Int32Array(0);

/** Bytes in which runs are searched. The order of a word's bytes is that of all machines that run this: the lowest comes first. */
export class PlainRuns {
  readonly #bytes: Buffer;
  /** The bytes from `#firstWord` on as words; none when there are too few. */
  readonly #words: Int32Array;
  /** Where the first word begins: words are aligned in memory. */
  readonly #firstWord: number;
  /** A position up to which no quote follows the last search. */
  #quoteFreeTo = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#firstWord = -bytes.byteOffset & (WORD_BYTES - 1);
    this.#words =
      bytes.length < MIN_BYTES
        ? NO_WORDS
        : new Int32Array(
            bytes.buffer,
            bytes.byteOffset + this.#firstWord,
            Math.floor((bytes.length - this.#firstWord) / WORD_BYTES),
          );
  }

  /** Returns the position of the first byte in `[from, to)` that does not represent itself; `to`: all do. */
  end(from: number, to: number): number {
    const words = this.#words;
    const firstWord = this.#firstWord;
    const offset = from - firstWord;
    let at = from;
    // The word of the first byte, where there is one: the bytes before are made plain.
    let index = offset >> 2;
    const last = Math.min(words.length, (to - firstWord) >> 2);
    if (offset >= 0 && index < last) {
      let found = specialBits(words[index]! | ((1 << ((offset & 3) << 3)) - 1));
      const near = Math.min(last, index + LONG_RUN_WORDS);
      while (found === 0 && ++index < near) found = specialBits(words[index]!);
      at = firstWord + index * WORD_BYTES;
      // The place of the lowest bit is that of the lowest byte.
      if (found !== 0) return at + ((31 - Math.clz32(found & -found)) >> 3);
      if (index < last) at = this.#endOfLong(at, index, to);
    }
    const bytes = this.#bytes;
    while (at < to && PLAIN[bytes[at]!] === 1) at += 1;
    return at;
  }

  /** Returns the position of the first word from `index` on that may have such a byte, or of the rest that is no whole word. */
  #endOfLong(at: number, index: number, to: number): number {
    const special = this.#nextSpecial(at, to);
    const firstWord = this.#firstWord;
    return firstWord + controlFreeEnd(this.#words, index, (special - firstWord) >> 2) * WORD_BYTES;
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
