/**
 * One text for each JSON value, however it was written: members sorted, no space, every string and number in one form.
 * Read from the text and not from what JSON.parse makes of it, which rounds numbers to doubles: two seeds of twenty digits
 * are two values.
 */
import { isSpace } from './json-bytes.ts';
import { textStringEnd } from './string-end.ts';

/** Deeper than any real body, and well within the stack. */
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
/** Every other escape has one form only, which JSON.stringify writes too. */
const MANY_FORMS = /\\[u/]/;

/**
 * The canonical text of a JSON document, which is no JSON itself: equal for equal values, different for different ones.
 * Of a repeated name the last value counts, as it does for JSON.parse.
 *
 * @param text what JSON.parse accepts
 * @returns null when it is nested deeper than 512 levels: then only the text itself stands for it
 */
export function canonicalJson(text: string): string | null {
  return new CanonicalReader(text).value(MAX_DEPTH);
}

/**
 * A number as its significant digits and a power of ten, exactly: `1.50e+02`, `150` and `15e1` are all `15e1`. No double
 * comes into it. Minus zero stays apart from zero, as it does for some readers. What is no number comes back as it is.
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

/** Each method begins at its value's first character and leaves off behind its last; null means that it gave up. */
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

  /** As JSON.stringify writes it, which leaves no lone surrogate: none could be told from another once in UTF-8. */
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

  /** Passes over space, and over `separator`; returns what stands behind it. */
  #skipSpace(separator?: number): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (!isSpace(code) && code !== separator) return code;
      this.#at += 1;
    }
  }
}
