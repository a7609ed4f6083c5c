type Entry<T> = { index: number; value: T };

/**
 * Values by the index that events give them, listed in its order. An index is only a name: however large it is, there
 * are never more values than were put here.
 */
export class ByIndex<T> {
  readonly #entries: Entry<T>[] = [];
  /** Of each index, what began last. */
  readonly #latest = new Map<number, Entry<T>>();
  #next = 0;

  /** Behind all that there are. */
  get next(): number {
    return this.#next;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** The value at an index. What is no number means 0. */
  find(index: unknown): T | undefined {
    return this.#latest.get(keyOf(index))?.value;
  }

  /** The same, made where there is none. */
  at(index: unknown, make: (index: number) => T): T {
    return this.find(index) ?? this.begin(index, make(keyOf(index)));
  }

  /** Begins a value. One that was at the index stays, in front of it. */
  begin(index: unknown, value: T): T {
    const entry = { index: keyOf(index), value };
    this.#entries.push(entry);
    this.#latest.set(entry.index, entry);
    this.#next = Math.max(this.#next, entry.index + 1);
    return value;
  }

  /** Puts a value in the place of the one at an index. */
  replace(index: unknown, value: T): void {
    const entry = this.#latest.get(keyOf(index));
    if (entry === undefined) this.begin(index, value);
    else entry.value = value;
  }

  list(): T[] {
    return this.#entries.sort((a, b) => a.index - b.index).map(({ value }) => value);
  }
}

function keyOf(index: unknown): number {
  return typeof index === 'number' ? index : 0;
}
