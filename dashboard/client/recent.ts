/** What the page keeps in its memory, and forgets with the log-in. */

const clears: (() => void)[] = [];

/** Names what else is forgotten after a log-out, or when another key logs in. */
export function whenForgotten(clear: () => void): void {
  clears.push(clear);
}

/** Values by their keys, until the log-in ends. When there are too many, the one that was put first goes. */
export class Memory<Value> {
  readonly #values = new Map<string, Value>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
    whenForgotten(() => this.#values.clear());
  }

  get(key: string): Value | null {
    return this.#values.get(key) ?? null;
  }

  put(key: string, value: Value): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size > this.#most) this.#values.delete(this.#values.keys().next().value!);
  }

  delete(key: string): void {
    this.#values.delete(key);
  }
}

const MOST_ANSWERS = 60;
const answers = new Memory<unknown>(MOST_ANSWERS);

/** Keeps an answer, so that the way back shows at once what was there. It is loaded again nevertheless. */
export function remember(key: string, answer: unknown): void {
  answers.put(key, answer);
}

/** Returns a kept answer, or null. The caller knows its type by the key. */
export function recall<T>(key: string): T | null {
  return answers.get(key) as T | null;
}

/** Forgets all: after a log-out, or when another key logs in. */
export function forgetAll(): void {
  for (const clear of clears) clear();
}
