/**
 * The limiter of a gateway whose calls cost money: reserves estimates and settles random costs until it is killed. Run as
 * a process; its arguments are the database's URL, a seed, and a counter with its policy as JSON.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Counter, createLimiter, type Policy } from '#platform/limiter/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { seededRandom } from '../../../support/random.ts';
import { endWithParent } from './with-parent.ts';

endWithParent();

const [url = '', seed = '', limit = ''] = process.argv.slice(2);
const { counter, policy } = JSON.parse(limit) as { counter: Counter; policy: Policy };
const random = seededRandom(Number(seed));
const sql = connectPostgres({ url, max: 4, applicationName: 'spender', statementTimeoutMs: 10_000 });
const limiter = createLimiter({
  sql,
  clock: systemClock,
  log: createLogger({ role: 'spender', level: 'warn' }),
  storeTimeoutMs: 10_000,
});

async function call(): Promise<void> {
  const { isAdmitted, settle } = await limiter.reserve(counter, policy, 1_000);
  // Also after a synchronous refusal, so that this process keeps handling events.
  await sleep(random() * 20);
  if (!isAdmitted) return;
  settle(random() < 0.1 ? null : Math.floor(random() * 2_000));
}

for (;;) await Promise.all(Array.from({ length: 10 }, call));
