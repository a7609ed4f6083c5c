/** The process of `startIncoming`: `node process.ts <url> <organization> <records a second>`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import type { BatchEntry } from '../../../ingest/prepare-batch.ts';
import { BatchStore } from '../../../ingest/store-batch.ts';
import { logEntry } from '../../support/log-entries.ts';
import { sharedClockMs } from '../gateway/answered.ts';
import { help } from '../helper.ts';
import type { Committed } from '../incoming.ts';

/** Ingest stores what has come since the last batch; batches of a tenth of a second keep records findable at once. */
const BATCHES_A_SECOND = 10;

const [url = '', organizationId = '', perSecond = '0'] = process.argv.slice(2);

/** Fails as many as `bench seed` does, and in its order of size: else no new request would pass the filters of benchmarks. */
function statusOf(number: number): number {
  if (number % 50 === 0) return 429;
  return number % 100 === 51 ? 500 : 200;
}

function entryOf(number: number): BatchEntry {
  const tokens = 100 + ((number * 37) % 4_000);
  const head = {
    organizationId,
    status: statusOf(number),
    userId: `user-${number % 1_000}`,
    latencyMs: 200 + (number % 3_000),
    properties: [
      ['Plan', 'pro'],
      ['Feature', `feature-${number % 1_000}`],
    ] as [string, string][],
  };
  const request = {
    messages: [{ role: 'user', content: `What comes in while others read, number ${number}?` }],
  };
  const response = {
    model: 'gpt-4o-mini',
    choices: [{ index: 0, message: { role: 'assistant', content: `Record ${number}` } }],
    usage: { prompt_tokens: tokens, completion_tokens: tokens, total_tokens: 2 * tokens },
  };
  return { ...logEntry(head, { request, response }), origin: `bench ${number}` };
}

await help(async ({ stopping, ready, note }) => {
  const log = createLogger({ role: 'bench', level: 'warn' });
  const sql = connectPostgres({ url, max: 2, applicationName: 'bench-incoming', statementTimeoutMs: 0 });
  const store = new BatchStore({ sql, log, clock: systemClock, retentionDays: null });
  const batchSize = Math.max(1, Math.round(Number(perSecond) / BATCHES_A_SECOND));
  const intervalMs = (1_000 * batchSize) / Number(perSecond);
  ready();
  const startedAt = performance.now();
  let stored = 0;
  while (!stopping.aborted) {
    const dueAt = startedAt + (stored / batchSize) * intervalMs;
    await sleep(Math.max(0, dueAt - performance.now()));
    await store.store({
      entries: Array.from({ length: batchSize }, (_, index) => entryOf(stored + index + 1)),
    });
    stored += batchSize;
    note({ stored, atMs: sharedClockMs() } satisfies Committed);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  await sql.end();
  return Math.round(stored / seconds);
});
