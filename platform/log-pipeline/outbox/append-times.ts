/** Times at which entries were appended: a mark a second, from which the age of the oldest entry not yet stored follows. */

/** Number of entries that had been appended at a time of the monotonic clock. */
type Mark = { entries: number; atMs: number };

/** Beyond it every second mark is dropped: after two hours without storing, ages are exact to two seconds, and so on. */
const MAX_MARKS = 7_200;

export class AppendTimes {
  #marks: Mark[];

  /** @param atMs a time at which there was no entry yet */
  constructor(atMs: number) {
    this.#marks = [{ entries: 0, atMs }];
  }

  /** Notes the number of entries appended by now. A call without a new entry only moves the last mark. */
  note(entries: number, atMs: number): void {
    const last = this.#marks.at(-1)!;
    if (last.entries === entries) {
      last.atMs = atMs;
      return;
    }
    this.#marks.push({ entries, atMs });
    if (this.#marks.length > MAX_MARKS) this.#marks = this.#marks.filter((_, index) => index % 2 === 0);
  }

  /**
   * Returns when the entry behind the first `stored` ones was appended, and forgets the marks before it. Entries between two
   * marks are assumed to be evenly spaced.
   * @param appended all entries by now, more than `stored`
   * @param nowMs of the monotonic clock
   */
  oldestAfter(stored: number, appended: number, nowMs: number): number {
    const next = this.#marks.findIndex(({ entries }) => entries > stored);
    const before = this.#marks[next === -1 ? this.#marks.length - 1 : Math.max(0, next - 1)]!;
    const after = next === -1 ? { entries: appended, atMs: nowMs } : this.#marks[next]!;
    if (next > 1) this.#marks.splice(0, next - 1);
    if (before === after) return before.atMs;
    const share = (stored + 1 - before.entries) / (after.entries - before.entries);
    return before.atMs + Math.max(0, Math.min(1, share)) * (after.atMs - before.atMs);
  }
}
