import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that systems give out by themselves: nobody who asks for any port, or connects, gets one of these while
 * the process that it is meant for is not listening, as between a kill and the next start.
 */
const FIRST = 10_000;
const LAST = 32_000;
const ATTEMPTS = 100;
/** Of the ports that fetch and browsers refuse to call (https://fetch.spec.whatwg.org/#port-blocking), those in the range. */
const BLOCKED: readonly number[] = [10_080];

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/** A port that was free a moment ago, for a process that must be told one. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(FIRST, LAST);
    if (!BLOCKED.includes(port) && (await isFree(port))) return port;
  }
  throw new Error(`No port from ${FIRST} to ${LAST} is free`);
}
