/**
 * Reads JSON in bytes without building values: checks that it is JSON, as `JSON.parse` would, and finds the positions of
 * members by name. It can stop after any number of bytes and continue later, so that a body of tens of megabytes does not
 * block the event loop, and its memory does not grow with the text: ten million empty arrays cost `JSON.parse` seconds and
 * hundreds of megabytes.
 * The bytes are UTF-8, whose longer sequences hold no ASCII byte; a sequence that is not valid counts as a replacement
 * character, as it does for `Buffer.toString`.
 */
import {
  isDigit,
  isEscape,
  isHex,
  isSpace,
  isWholeNumber,
  literalEnd,
  numberStateAfter,
} from './json-bytes.ts';
import { JsonFault } from './json-fault.ts';
import { PlainRuns } from './plain-run.ts';
import { MemberFinder, type ScannedMembers, type ScanOptions } from './scanned-members.ts';
import { byteStringEnd } from './string-end.ts';

/** Length of an escape like `\u0041`. */
const BYTES_OF_ESCAPE = 6;

const [QUOTE, BACKSLASH, COMMA, COLON, MINUS, LETTER_U] = [0x22, 0x5c, 0x2c, 0x3a, 0x2d, 0x75];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/** States, named for the expected token; within a number, the states of `json-bytes.ts` apply too. */
const [VALUE, FIRST_ITEM, NAME, FIRST_NAME, AFTER_NAME, AFTER_VALUE, STRING, NUMBER] = [
  0, 1, 2, 3, 4, 5, 6, 7,
];

/** Scans one JSON value, in any number of steps. */
export class JsonScanner {
  readonly #bytes: Buffer;
  readonly #runs: PlainRuns;
  readonly #end: number;
  readonly #maxDepth: number;
  readonly #isValid: boolean;
  readonly #members: MemberFinder;
  #at: number;
  #state = VALUE;
  /** The state within a number. */
  #numberState = 0;
  /** 1 for each level at which an object is open, 0 for an array. */
  #objects = new Uint8Array(64);
  #depth = 0;
  #deepest = 0;
  #isName = false;
  #stringStart = 0;
  #isObject = false;
  #closesAt = -1;
  #values = 0;

  constructor(
    bytes: Buffer,
    { names, maxDepth, maxRepeats, isValid = false, from = 0, to = bytes.length }: ScanOptions,
  ) {
    this.#bytes = bytes;
    this.#runs = new PlainRuns(bytes);
    this.#at = from;
    this.#end = to;
    this.#maxDepth = maxDepth;
    this.#isValid = isValid;
    this.#members = new MemberFinder(bytes, names, maxRepeats);
  }

  /**
   * Reads about `budget` more bytes; returns whether that was the end.
   * @throws JsonFault
   */
  read(budget: number): boolean {
    const limit = Math.min(this.#at + budget, this.#end);
    while (this.#at < limit) {
      if (this.#state === STRING) this.#readString(limit);
      else if (this.#state === NUMBER) this.#readNumber(limit);
      else {
        const code = this.#bytes[this.#at]!;
        if (isSpace(code)) this.#at += 1;
        else this.#readStructure(code);
      }
    }
    if (this.#at < this.#end) return false;
    if (this.#state === NUMBER) this.#endNumber();
    if (this.#state !== AFTER_VALUE || this.#depth > 0) throw new JsonFault('syntax', null);
    return true;
  }

  /** The result, valid once everything is read. */
  get members(): ScannedMembers {
    return {
      isObject: this.#isObject,
      closesAt: this.#closesAt,
      count: this.#members.count,
      deepest: this.#deepest,
      values: this.#values,
      spans: this.#members.spans,
    };
  }

  #fault(): JsonFault {
    return new JsonFault('syntax', this.#at);
  }

  #readStructure(code: number): void {
    switch (this.#state) {
      case FIRST_ITEM:
      case VALUE:
        if (code === CLOSE_BRACKET && this.#state === FIRST_ITEM) this.#close();
        else this.#beginValue(code);
        return;
      case FIRST_NAME:
      case NAME:
        if (code === CLOSE_BRACE && this.#state === FIRST_NAME) this.#close();
        else this.#beginName(code);
        return;
      case AFTER_NAME:
        if (code !== COLON) throw this.#fault();
        this.#at += 1;
        this.#state = VALUE;
        return;
      default:
        this.#readSeparator(code);
    }
  }

  #readSeparator(code: number): void {
    const isInObject = this.#depth > 0 && this.#objects[this.#depth] === 1;
    if (this.#depth > 0 && code === COMMA) {
      if (this.#depth === 1) this.#members.onComma(this.#at);
      this.#at += 1;
      this.#state = isInObject ? NAME : VALUE;
    } else if (this.#depth > 0 && code === (isInObject ? CLOSE_BRACE : CLOSE_BRACKET)) this.#close();
    else throw this.#fault();
  }

  #beginName(code: number): void {
    if (code !== QUOTE) throw this.#fault();
    this.#isName = true;
    this.#stringStart = this.#at;
    this.#at += 1;
    this.#state = STRING;
  }

  #beginValue(code: number): void {
    this.#values += 1;
    if (this.#depth === 1) this.#members.onValue(this.#at);
    if (code === QUOTE) {
      this.#isName = false;
      this.#at += 1;
      this.#state = STRING;
    } else if (code === OPEN_BRACE) this.#open(1, FIRST_NAME);
    else if (code === OPEN_BRACKET) this.#open(0, FIRST_ITEM);
    else if (code === MINUS || isDigit(code)) {
      this.#numberState = numberStateAfter(0, code);
      this.#at += 1;
      this.#state = NUMBER;
    } else {
      const end = literalEnd(this.#bytes, this.#at, this.#end);
      if (end === -1) throw this.#fault();
      this.#at = end;
      this.#endValue();
    }
  }

  #open(isObject: 0 | 1, state: number): void {
    if (this.#depth === this.#maxDepth) throw new JsonFault('depth', this.#at);
    if (this.#depth === 0) this.#isObject = isObject === 1;
    this.#depth += 1;
    if (this.#depth > this.#deepest) this.#deepest = this.#depth;
    if (this.#depth === this.#objects.length) {
      const larger = new Uint8Array(2 * this.#depth);
      larger.set(this.#objects);
      this.#objects = larger;
    }
    this.#objects[this.#depth] = isObject;
    this.#at += 1;
    this.#state = state;
  }

  #close(): void {
    this.#depth -= 1;
    if (this.#depth === 0) this.#closesAt = this.#at;
    this.#at += 1;
    this.#endValue();
  }

  #endValue(): void {
    this.#state = AFTER_VALUE;
    if (this.#depth === 1) this.#members.onEnd(this.#at);
  }

  #readString(limit: number): void {
    if (this.#isValid) {
      this.#at = byteStringEnd(this.#bytes, this.#at - 1);
      this.#endString();
      return;
    }
    const bytes = this.#bytes;
    let at = this.#at;
    while (at < limit) {
      at = this.#runs.end(at, limit);
      if (at >= limit) break;
      const code = bytes[at]!;
      if (code === QUOTE) {
        this.#at = at + 1;
        this.#endString();
        return;
      }
      if (code !== BACKSLASH) break;
      const next = at + 1 < this.#end ? bytes[at + 1]! : 0;
      if (next === LETTER_U) {
        if (at + BYTES_OF_ESCAPE > this.#end) break;
        if (
          !(isHex(bytes[at + 2]!) && isHex(bytes[at + 3]!) && isHex(bytes[at + 4]!) && isHex(bytes[at + 5]!))
        )
          break;
        at += BYTES_OF_ESCAPE;
      } else if (isEscape(next)) at += 2;
      else break;
    }
    this.#at = at;
    if (at < limit) throw this.#fault();
  }

  #endString(): void {
    if (!this.#isName) {
      this.#endValue();
      return;
    }
    this.#state = AFTER_NAME;
    if (this.#depth === 1) this.#members.onName(this.#stringStart, this.#at);
  }

  #readNumber(limit: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    let state = this.#numberState;
    while (at < limit) {
      const next = numberStateAfter(state, bytes[at]!);
      if (next === -1) break;
      state = next;
      at += 1;
    }
    this.#at = at;
    this.#numberState = state;
    if (at < limit) this.#endNumber();
  }

  #endNumber(): void {
    if (!isWholeNumber(this.#numberState)) throw this.#fault();
    this.#endValue();
  }
}
