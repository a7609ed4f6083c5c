const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const SPACE = 0x20;

/** The first and the last byte of a text that are no blanks. Some providers send blank lines while they work. */
export class TextEnds {
  #first: number | null = null;
  #last: number | null = null;
  #hasTwo = false;

  /** Takes the next bytes of the text. */
  push(bytes: Buffer): void {
    let from = 0;
    let to = bytes.length - 1;
    while (from <= to && bytes[from]! <= SPACE) from += 1;
    while (to > from && bytes[to]! <= SPACE) to -= 1;
    if (from > to) return;
    this.#hasTwo ||= this.#first !== null || to > from;
    this.#first ??= bytes[from]!;
    this.#last = bytes[to]!;
  }

  /**
   * Whether they are those of a JSON object or list. To read all of it would cost a call more than everything else that
   * is done for it; JSON that broke off nearly always lacks its end.
   */
  get areOfJson(): boolean {
    if (!this.#hasTwo) return false;
    return (
      (this.#first === OPEN_BRACE && this.#last === CLOSE_BRACE) ||
      (this.#first === OPEN_BRACKET && this.#last === CLOSE_BRACKET)
    );
  }
}
