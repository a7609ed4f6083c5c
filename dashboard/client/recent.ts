/** Recent answers, so that the way back shows at once what was there. They are loaded again nevertheless. */

const MOST = 60;
const answers = new Map<string, unknown>();

/** Keeps an answer; the one kept longest without use goes. */
export function remember(key: string, answer: unknown): void {
  answers.delete(key);
  answers.set(key, answer);
  if (answers.size > MOST) answers.delete(answers.keys().next().value!);
}

/** Returns a kept answer, or null. The caller knows its type by the key. */
export function recall<T>(key: string): T | null {
  const answer = answers.get(key);
  return answer === undefined ? null : (answer as T);
}

/** Forgets all: after a log-out, or when another key logs in. */
export function forgetAll(): void {
  answers.clear();
}
