/** A value as it is bound to a statement. */
export type SqlValue = string | number | boolean | null | readonly string[];

/** A statement: its text and the values of `$1`, `$2`, …. Pure functions make it; the platform runs it. */
export type Statement = {
  readonly text: string;
  readonly values: readonly SqlValue[];
  /**
   * True: one plan is the best for all values, and the text is one of a hundred at most. Each connection keeps the plan then,
   * a few hundred kilobytes over all partitions. Default: planned anew each time, for its values.
   */
  readonly isPlannedOnce?: boolean;
};

/** The values of a statement under construction. */
export class Parameters {
  readonly values: SqlValue[] = [];

  /**
   * Binds a value, and returns its placeholder with its type: `$3::int8`. The type is always written, as it decides whether
   * Postgres can use an index.
   */
  bind(value: SqlValue, sqlType: string): string {
    this.values.push(value);
    return `$${this.values.length}::${sqlType}`;
  }
}
