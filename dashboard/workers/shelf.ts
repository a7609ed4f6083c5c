/** Keeps what was used last, within bounds. Pure. */

/** Its values tell their size. */
export class Shelf<Value extends { size: number }> {
  /** The one that was used last is at the end. */
  readonly #values = new Map<string, Value>();
  readonly #most: number;
  readonly #mostSize: number;

  constructor(most: number, mostSize: number) {
    this.#most = most;
    this.#mostSize = mostSize;
  }

  get(key: string): Value | undefined {
    const value = this.#values.get(key);
    return value === undefined ? undefined : this.put(key, value);
  }

  /** Keeps a value; those not used for the longest time go. The newest is kept whatever its size. */
  put(key: string, value: Value): Value {
    this.#values.delete(key);
    this.#values.set(key, value);
    let size = [...this.#values.values()].reduce((sum, one) => sum + one.size, 0);
    for (const [other, one] of this.#values) {
      if (other === key || (this.#values.size <= this.#most && size <= this.#mostSize)) break;
      this.#values.delete(other);
      size -= one.size;
    }
    return value;
  }
}
