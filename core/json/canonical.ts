/**
 * One text for each JSON value, however it was written: members sorted, no space, every string and number in one form.
 * Reads the text itself and not JSON.parse's value, whose numbers are rounded to doubles: two seeds of twenty digits are
 * two values.
 */
import { isSpace } from './json-bytes.ts';
import { textStringEnd } from './string-end.ts';

/** Maximum nesting: deeper than any real body, and well within the stack. */
const MAX_DEPTH = 512;
/** An exponent beyond this is zero or infinity to every reader; below, sums of it with any length are exact. */
const LARGEST_EXPONENT = 1e15;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const LITERAL = /[-+.\w]+/y;
/** Escapes with several forms. Every other escape has a single one, which JSON.stringify writes too. */
const MANY_FORMS = /\\[u/]/;

/**
 * Returns the canonical text of a JSON document, which is no JSON itself: equal for equal values, different for different
 * ones. The last value of a repeated name counts, as it does for JSON.parse.
 *
 * @param text JSON that JSON.parse accepts
 * @returns null when it is nested deeper than 512 levels: then only the text itself can identify it
 */
export function canonicalJson(text: string): string | null {
  return new CanonicalReader(text).value(MAX_DEPTH);
}

/**
 * Writes a number as its significant digits and a power of ten, exactly and without doubles: `1.50e+02`, `150` and `15e1`
 * are all `15e1`. Minus zero differs from zero, as some readers have it. Other literals are returned unchanged.
 */
function canonicalLiteral(literal: string): string {
  const match = NUMBER.exec(literal);
  if (match === null) return literal;
  const [, sign, whole = '', fraction = '', exponentText = '0'] = match;
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return `${sign}0`;
  const exponent = Number(exponentText);
  if (Math.abs(exponent) > LARGEST_EXPONENT) return literal;
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return `${sign}${digits.slice(0, end)}e${exponent - fraction.length + digits.length - end}`;
}

/** Each method begins at the first character of its value and ends after the last one; null: nested too deep. */
class CanonicalReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): string | null {
    switch (this.#skipSpace()) {
      case QUOTE:
        return this.#string();
      case OPEN_BRACE:
        return depth === 0 ? null : this.#object(depth - 1);
      case OPEN_BRACKET:
        return depth === 0 ? null : this.#array(depth - 1);
      default:
        return this.#literal();
    }
  }

  #object(depth: number): string | null {
    const members = new Map<string, string>();
    this.#at += 1;
    while (this.#skipSpace(COMMA) !== CLOSE_BRACE) {
      const name = this.#string();
      this.#skipSpace();
      this.#at += 1; // the colon
      const value = this.value(depth);
      if (name === null || value === null) return null;
      members.set(name, value);
    }
    this.#at += 1;
    let canonical = '{';
    for (const name of [...members.keys()].sort()) canonical += `${name}:${members.get(name)},`;
    return `${canonical}}`;
  }

  #array(depth: number): string | null {
    let canonical = '[';
    this.#at += 1;
    while (this.#skipSpace(COMMA) !== CLOSE_BRACKET) {
      const item = this.value(depth);
      if (item === null) return null;
      canonical += `${item},`;
    }
    this.#at += 1;
    return `${canonical}]`;
  }

  /** Reads a string as JSON.stringify writes it. A lone surrogate stays an escape: in UTF-8 all would look the same. */
  #string(): string | null {
    const end = textStringEnd(this.#text, this.#at);
    if (end === -1) return null;
    const written = this.#text.slice(this.#at, end);
    this.#at = end;
    return MANY_FORMS.test(written) ? JSON.stringify(JSON.parse(written)) : written;
  }

  #literal(): string | null {
    LITERAL.lastIndex = this.#at;
    const match = LITERAL.exec(this.#text);
    if (match === null) return null;
    this.#at = LITERAL.lastIndex;
    return canonicalLiteral(match[0]);
  }

  /** Skips space and `separator`; returns the code of the next character. */
  #skipSpace(separator?: number): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (!isSpace(code) && code !== separator) return code;
      this.#at += 1;
    }
  }
}
