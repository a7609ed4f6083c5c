/** The options and the result of a scan, and the search for members. */
import { JsonFault } from './json-fault.ts';

/** Maximum nesting of a body that Assay reads. A larger one costs memory for nothing; no real body comes near it. */
export const MAX_BODY_DEPTH = 100_000;

/** A member of an object, as positions in its bytes. */
export type MemberSpan = {
  /** The beginning of its name. */
  from: number;
  /** The value is in `[start, end)`. */
  start: number;
  end: number;
  /** The commas around it; -1: none. */
  commaBefore: number;
  commaAfter: number;
};

/** The result of scanning a text that is JSON. */
export type ScannedMembers = {
  isObject: boolean;
  /** The position of the object's closing bracket; -1 when the text is no object or array. */
  closesAt: number;
  /** Number of members of the object. */
  count: number;
  /** Levels of objects and arrays. */
  deepest: number;
  /** Number of values: objects, arrays, strings, numbers and literals, but not names. */
  values: number;
  /** By searched name: every member of that name, as servers differ in which of several they read. */
  spans: ReadonlyMap<string, readonly MemberSpan[]>;
};

/** Options of a scan. */
export type ScanOptions = {
  /** Names of members of the outermost object. */
  names: readonly string[];
  maxDepth: number;
  /** The most members of one searched name; default: 100. */
  maxRepeats?: number;
  /** True when the text is known to be JSON: strings are skipped from quote to quote, which is faster for long ones. */
  isValid?: boolean;
  /** The value is in `[from, to)` of the bytes; absent: all of them. */
  from?: number;
  to?: number;
};

/**
 * Members of one name, of which any reader counts one. Each is stored, and changed where its name is: a small body full of them
 * would become hundreds of megabytes.
 */
const MAX_REPEATS = 100;
/** Length of the escape that may replace a letter of a name. */
const BYTES_OF_ESCAPE = 6;

/** Finds members of the outermost object by their names. The scanner reports the tokens of that object alone. */
export class MemberFinder {
  readonly #bytes: Buffer;
  readonly #names: readonly string[];
  readonly #maxRepeats: number;
  readonly #found: MemberSpan[][];
  /** The latest comma, and the latest member if its name is searched for. */
  #comma = -1;
  #current: MemberSpan | null = null;
  /** Number of members of the object. */
  count = 0;

  constructor(bytes: Buffer, names: readonly string[], maxRepeats = MAX_REPEATS) {
    this.#bytes = bytes;
    this.#names = names;
    this.#maxRepeats = maxRepeats;
    this.#found = names.map(() => []);
  }

  /** The members found so far, by searched name. */
  get spans(): ReadonlyMap<string, readonly MemberSpan[]> {
    return new Map(this.#names.map((name, index) => [name, this.#found[index]!]));
  }

  /**
   * Takes the name in `[from, end)`, quotes included.
   * @throws JsonFault when it is repeated too often
   */
  onName(from: number, end: number): void {
    this.count += 1;
    const index = this.#indexOf(from + 1, end - 1);
    if (index === -1) return;
    const members = this.#found[index]!;
    if (members.length === this.#maxRepeats) throw new JsonFault('repeats', from);
    this.#current = { from, start: -1, end: -1, commaBefore: this.#comma, commaAfter: -1 };
    members.push(this.#current);
  }

  onValue(at: number): void {
    if (this.#current !== null) this.#current.start = at;
  }

  onEnd(at: number): void {
    if (this.#current !== null) this.#current.end = at;
  }

  onComma(at: number): void {
    this.#comma = at;
    if (this.#current !== null) this.#current.commaAfter = at;
    this.#current = null;
  }

  /** Returns the index of the searched name in `[from, to)`; -1: none. */
  #indexOf(from: number, to: number): number {
    for (let index = 0; index < this.#names.length; index += 1) {
      const name = this.#names[index]!;
      if (to - from < name.length || to - from > BYTES_OF_ESCAPE * name.length) continue;
      const written = this.#bytes.toString('latin1', from, to);
      if (written === name) return index;
      if (written.includes('\\') && JSON.parse(`"${written}"`) === name) return index;
    }
    return -1;
  }
}
