import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Clock } from '#platform/process/clock.ts';
import { Drain } from '../../../ingest/drain.ts';
import { BATCH_EVERY_MS } from '../../../ingest/store-batch.ts';
import { waitFor } from '../../support/assay.ts';
import { logEntryHead } from '../../support/log-entries.ts';
import { silentLog } from '../../support/world.ts';
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

t.test('an entry after minutes without any is stored at once', async (t) => {
  const { put, sql, root } = await outboxWorld(t);
  let aheadMs = 0;
  let looks = 0;
  let stored = 0;
  const clock: Clock = {
    now: () => Date.now(),
    monotonic: () => performance.now() + aheadMs,
  };
  const running = new Drain({
    root,
    sql,
    log: silentLog,
    clock,
    retentionDays: null,
    onStored: (result) => {
      stored += result.stored;
    },
    onPace: () => {
      looks += 1;
    },
  });
  const ended = running.run();
  await waitFor('it to have looked', () => looks > 0);
  aheadMs = 120_000;
  // A look of the former pace may be due.
  await sleep(1_500);
  const before = looks;
  await sleep(3_000);
  t.equal(looks, before, 'it does not look in vain');
  const startedAt = performance.now();
  await put(logEntryHead());
  await waitFor('the entry', () => stored === 1);
  t.ok(performance.now() - startedAt < 5_000);
  running.stop();
  await ended;
});
