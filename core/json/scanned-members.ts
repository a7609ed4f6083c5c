/** What a scan is asked for, what it finds, and how it keeps the members. */
import { JsonFault } from './json-fault.ts';

/** Deepest nesting of a body that Assay reads. More costs memory for nothing; no real body comes near. */
export const MAX_BODY_DEPTH = 100_000;

/** A member of an object, as positions in its bytes. */
export type MemberSpan = {
  /** Where its name begins. */
  from: number;
  /** Where its value begins and, behind it, ends. */
  start: number;
  end: number;
  /** The commas around it; -1: there is none. */
  commaBefore: number;
  commaAfter: number;
};

/** What was found in a text that is JSON. */
export type ScannedMembers = {
  isObject: boolean;
  /** Where the closing bracket of an object stands. */
  closesAt: number;
  /** How many members the object has. */
  count: number;
  /** How many levels of objects and arrays there are. */
  deepest: number;
  /** How many values: objects, arrays, strings, numbers and literals, but not names. */
  values: number;
  /** By the names asked for: every member of that name, as servers differ in which of several they read. */
  spans: ReadonlyMap<string, readonly MemberSpan[]>;
};

export type ScanOptions = {
  /** Names of members of the outermost object. */
  names: readonly string[];
  maxDepth: number;
  /** It is known to be JSON: strings are passed over from quote to quote, which is quicker where they are long. */
  isValid?: boolean;
  /** The value to read is a part of the bytes. */
  from?: number;
  to?: number;
};

/** Each member that is asked for is remembered: without a bound, a body of them would take memory and time. */
const MAX_REPEATS = 10_000;
/** A letter of a name may be written as an escape of six bytes. */
const BYTES_OF_ESCAPE = 6;

/** Finds members of the outermost object by their names. The scanner tells it of that object alone. */
export class MemberFinder {
  readonly #bytes: Buffer;
  readonly #names: readonly string[];
  readonly #found: MemberSpan[][];
  /** The latest comma, and the latest member when it was asked for. */
  #comma = -1;
  #current: MemberSpan | null = null;
  /** How many members the object has. */
  count = 0;

  constructor(bytes: Buffer, names: readonly string[]) {
    this.#bytes = bytes;
    this.#names = names;
    this.#found = names.map(() => []);
  }

  /** The members found so far, by the names asked for. */
  get spans(): ReadonlyMap<string, readonly MemberSpan[]> {
    return new Map(this.#names.map((name, index) => [name, this.#found[index]!]));
  }

  /**
   * Takes the name that stands, with its quotes, from `from` to before `end`.
   * @throws JsonFault when it is repeated too often
   */
  onName(from: number, end: number): void {
    this.count += 1;
    const index = this.#indexOf(from + 1, end - 1);
    if (index === -1) return;
    const members = this.#found[index]!;
    if (members.length === MAX_REPEATS) throw new JsonFault('repeats', from);
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

  /** Which of the names asked for stands from `from` to before `to`; -1: none. */
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
