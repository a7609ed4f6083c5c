/** Logs the requests of judgments before these are imported. */
import { setTimeout as sleep } from 'node:timers/promises';
import { errorOf, type Post } from '../api-client.ts';
import type { BatchLine } from './batches.ts';

/** Calls at a time. */
const CONCURRENCY = 8;
const CONFLICT = 409;
const TOO_MANY = 429;
const UNAVAILABLE = 503;
/** Times that one request is sent, while the API says that it can be logged later. */
const MAX_TRIES = 100;

/** Logs what is to be logged; what is in the log already stays. Returns the lines that were refused, and why. */
export async function logRequests(post: Post, lines: readonly BatchLine[]): Promise<Map<BatchLine, string>> {
  const refused = new Map<BatchLine, string>();
  const waiting = lines.filter(({ log }) => log !== null);
  const work = async () => {
    for (let line = waiting.shift(); line !== undefined; line = waiting.shift()) {
      const problem = await logOne(post, line.log!);
      if (problem !== null) refused.set(line, problem);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return refused;
}

/** Returns why a request was refused; null: it is in the log. */
async function logOne(post: Post, body: string): Promise<string | null> {
  for (let tried = 1; ; tried += 1) {
    const answer = await post('/v1/log/request', body);
    if (answer.ok || answer.status === CONFLICT) {
      await answer.body?.cancel();
      return null;
    }
    const isPassing = answer.status === TOO_MANY || answer.status === UNAVAILABLE;
    if (!isPassing || tried === MAX_TRIES) return errorOf(answer);
    await answer.body?.cancel();
    await sleep(1_000 * Math.max(1, Number(answer.headers.get('retry-after') ?? 1) || 1));
  }
}
