import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { BATCH_EVERY_MS } from '../../../ingest/store-batch.ts';
import { waitFor } from '../../support/assay.ts';
import { logEntryHead } from '../../support/log-entries.ts';
import { outboxWorld } from './outbox-world.ts';

t.test('entries that trickle in are stored in batches, not one by one', async (t) => {
  const { put, drain } = await outboxWorld(t);
  let batches = 0;
  let stored = 0;
  const running = drain((result) => {
    batches += 1;
    stored += result.stored;
  });
  const ended = running.run();
  const startedAt = performance.now();
  const entries = 60;
  for (let index = 0; index < entries; index += 1) {
    await put(logEntryHead());
    await sleep(5);
  }
  await waitFor('all entries to be stored', () => stored === entries);
  const most = Math.ceil((performance.now() - startedAt) / BATCH_EVERY_MS) + 1;
  running.stop();
  await ended;
  t.ok(batches <= most, `${batches} batches, at most ${most}`);
});
