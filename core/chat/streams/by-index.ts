type Entry<T> = { index: number; value: T };

/**
 * Values by the index that events give them, listed in index order. An index is only a name: however large it is, there
 * are never more values than were added.
 */
export class ByIndex<T> {
  readonly #entries: Entry<T>[] = [];
  /** The value that was begun last, by index. */
  readonly #latest = new Map<number, Entry<T>>();
  #next = 0;

  /** The index after all existing ones. */
  get next(): number {
    return this.#next;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** Returns the value at an index. An index that is not a number means 0. */
  find(index: unknown): T | undefined {
    return this.#latest.get(keyOf(index))?.value;
  }

  /** Returns the value at an index; makes one where there is none. */
  at(index: unknown, make: (index: number) => T): T {
    return this.find(index) ?? this.begin(index, make(keyOf(index)));
  }

  /** Begins a value. An earlier value at the same index stays, and is listed before it. */
  begin(index: unknown, value: T): T {
    const entry = { index: keyOf(index), value };
    this.#entries.push(entry);
    this.#latest.set(entry.index, entry);
    this.#next = Math.max(this.#next, entry.index + 1);
    return value;
  }

  /** Replaces the value at an index, or begins one. */
  replace(index: unknown, value: T): void {
    const entry = this.#latest.get(keyOf(index));
    if (entry === undefined) this.begin(index, value);
    else entry.value = value;
  }

  /** Returns the values in the order of their indexes. */
  list(): T[] {
    return this.#entries.sort((a, b) => a.index - b.index).map(({ value }) => value);
  }
}

function keyOf(index: unknown): number {
  return typeof index === 'number' ? index : 0;
}
