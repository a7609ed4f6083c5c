/** The reason why bytes cannot be read as JSON. */
export class JsonFault extends Error {
  /** `depth`: nested deeper than allowed; `repeats`: a member that is searched for is repeated too often. */
  readonly reason: 'syntax' | 'depth' | 'repeats';
  /** The position of the faulty byte; null: the text ends too early. */
  readonly at: number | null;

  constructor(reason: JsonFault['reason'], at: number | null) {
    super(`${reason} at ${at ?? 'the end'}`);
    this.name = 'JsonFault';
    this.reason = reason;
    this.at = at;
  }
}
