/** Finds the ends of records in the bytes of an export, piece by piece. */

/** The form of an export. */
export type ExportFormat = 'ndjson' | 'csv';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;

/** The records of an export so far; the line of names of a table counts as one. */
export class RecordEnds {
  /** Whole records. */
  count = 0;
  /** The byte behind the last whole record, and the one behind the record before it. */
  end = 0;
  previousEnd = 0;
  readonly #format: ExportFormat;
  #bytes = 0;
  /** In a table, line breaks in quotes end no record. */
  #isQuoted = false;
  #last = 0;

  constructor(format: ExportFormat) {
    this.#format = format;
  }

  /** Takes the next bytes. */
  push(bytes: Uint8Array): void {
    if (this.#format === 'ndjson') {
      for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1))
        this.#note(at);
    } else {
      for (let at = 0; at < bytes.length; at += 1) {
        const byte = bytes[at]!;
        if (byte === QUOTE) this.#isQuoted = !this.#isQuoted;
        else if (byte === LINE_FEED && this.#last === CARRIAGE_RETURN && !this.#isQuoted) this.#note(at);
        this.#last = byte;
      }
    }
    this.#bytes += bytes.length;
  }

  #note(at: number): void {
    this.count += 1;
    this.previousEnd = this.end;
    this.end = this.#bytes + at + 1;
  }
}
