/** The process of `startIncoming`: `node incoming-process.ts <url> <organization> <records a second>`. */
import { createLogger } from '#platform/observability/log.ts';
import { connectPostgres } from '#platform/postgres/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import { BatchStore } from '../../../ingest/store-batch.ts';
import { logEntry } from '../../support/log-entries.ts';

/** Ingest stores what has come since the last batch; batches of a tenth of a second keep records findable at once. */
const BATCHES_A_SECOND = 10;

async function main([url = '', organizationId = '', perSecond = '0']: string[]): Promise<void> {
  const log = createLogger({ role: 'bench', level: 'warn' });
  const sql = connectPostgres({ url, max: 2, applicationName: 'bench-incoming', statementTimeoutMs: 0 });
  const store = new BatchStore({ sql, log, clock: systemClock, retentionDays: null });
  const batchSize = Math.max(1, Math.round(Number(perSecond) / BATCHES_A_SECOND));
  const intervalMs = (1_000 * batchSize) / Number(perSecond);
  let isStopping = false;
  process.once('message', () => {
    isStopping = true;
  });
  let number = 0;
  const entry = () => {
    number += 1;
    const head = {
      organizationId,
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
      usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 },
    };
    return { ...logEntry(head, { request, response }), origin: `bench ${number}` };
  };
  const startedAt = performance.now();
  let stored = 0;
  while (!isStopping) {
    const dueAt = startedAt + (stored / batchSize) * intervalMs;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueAt - performance.now())));
    await store.store({ entries: Array.from({ length: batchSize }, entry) });
    stored += batchSize;
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  await sql.end();
  process.send?.(stored / seconds);
  process.disconnect?.();
}

void main(process.argv.slice(2));
