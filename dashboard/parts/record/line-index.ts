/** Rows of a long text: its lines, the long ones in parts. */
import type { LinePage, LineRow } from './body-methods.ts';

/** UTF-16 code units in a row: a body may be one string of 32 MiB. */
const ROW = 400;
const MOST_ROWS = 500;

/** Knows where each row begins, in 8 bytes a row. */
export class LineIndex {
  readonly #text: string;
  #starts = new Uint32Array(1_024);
  #lines = new Uint32Array(1_024);
  #count = 0;

  constructor(text: string) {
    this.#text = text;
    let line = 1;
    for (let from = 0; from < text.length; line += 1) {
      const newline = text.indexOf('\n', from);
      const end = newline === -1 ? text.length : newline;
      let at = from;
      do {
        this.#add(at, line);
        at = this.#endOfRow(at, end);
      } while (at < end);
      from = end + 1;
    }
  }

  get count(): number {
    return this.#count;
  }

  page(from: number, count: number): LinePage {
    const first = Math.max(0, Math.min(from, this.#count));
    const end = Math.min(this.#count, first + Math.min(count, MOST_ROWS));
    const rows = Array.from({ length: end - first }, (_, index) => this.#row(first + index));
    return { rows, total: this.#count };
  }

  #row(index: number): LineRow {
    const start = this.#starts[index]!;
    const next = index + 1 < this.#count ? this.#starts[index + 1]! : this.#text.length;
    const text = this.#text.slice(start, next);
    return {
      line: this.#lines[index]!,
      text: text.endsWith('\n') ? text.slice(0, -1) : text,
      isContinued: index > 0 && this.#lines[index] === this.#lines[index - 1],
    };
  }

  #endOfRow(from: number, end: number): number {
    const to = Math.min(from + ROW, end);
    // Printed JSON escapes lone surrogates, so the second half of a pair is told by its range alone.
    return to < end && (this.#text.charCodeAt(to) & 0xfc00) === 0xdc00 ? to + 1 : to;
  }

  #add(start: number, line: number): void {
    if (this.#count === this.#starts.length) {
      this.#starts = grown(this.#starts);
      this.#lines = grown(this.#lines);
    }
    this.#starts[this.#count] = start;
    this.#lines[this.#count] = line;
    this.#count += 1;
  }
}

function grown(numbers: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(numbers.length * 2);
  larger.set(numbers);
  return larger;
}
