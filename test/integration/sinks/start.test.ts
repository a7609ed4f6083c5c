/** The sinks of a process: they start without Postgres, and stop soon whatever Postgres does. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { createChangeAnnouncer, noteChange } from '#platform/changes/mod.ts';
import { createMetrics } from '#platform/observability/metrics.ts';
import { systemClock } from '#platform/process/clock.ts';
import { startSinks } from '../../../sinks/mod.ts';
import { waitFor } from '../../support/assay.ts';
import { configOf, createWorld, silentLog } from '../../support/world.ts';

const world = await createWorld(t);
const { sql } = world;

function start(url: string) {
  const metrics = createMetrics('test');
  const config = configOf({ DATABASE_URL: url });
  return { ...startSinks({ config, log: silentLog, clock: systemClock, metrics }), metrics };
}

t.test('running sinks keep the feed, and the metrics of the process show it', async () => {
  await sql.begin((tx) =>
    noteChange(tx, {
      organizationId: randomUUID(),
      kind: 'record',
      keys: [{ createdAt: new Date(), requestId: 'a' }],
    }),
  );
  await sql`update assay.changes set at = at - interval '8 days'`;
  const { stop, metrics } = start(world.database.url);
  await waitFor('the old change to go', async () => (await sql`select from assay.changes`).length === 0);
  await waitFor('the metric', async () => /^assay_changes_dropped_total.* 1$/m.test(await metrics.text()));
  await stop();
});

t.test(
  'sinks that sleep apply changes that another process announces, and the feed drops them then',
  async (t) => {
    const { stop } = start(world.database.url);
    t.teardown(stop);
    await waitFor('both sinks', async () => {
      const sinks =
        await sql`select from assay.sinks where state = 'running' and name = any('{rollups,webhooks}')`;
      return sinks.length === 2;
    });
    await waitFor(
      'them to be past all changes',
      async () => (await sql`select from assay.changes`).length === 0,
    );
    // Until they listen they look every second, and then sleep for half a minute.
    await sleep(3_000);
    const announce = createChangeAnnouncer(sql);
    for (const requestId of ['b', 'c']) {
      await sql.begin((tx) =>
        noteChange(tx, {
          organizationId: randomUUID(),
          kind: 'record',
          keys: [{ createdAt: new Date(), requestId }],
        }),
      );
      announce();
      const isApplied = async () => {
        const lags = await sql<{ changes: number }[]>`select changes from assay.sink_lags(10)`;
        return lags.every(({ changes }) => changes === 0);
      };
      await waitFor('the change to be applied', isApplied, 25_000);
      await waitFor(
        'the change to go',
        async () => (await sql`select from assay.changes`).length === 0,
        25_000,
      );
    }
  },
);

t.test('sinks start without Postgres, and stop', async () => {
  const { stop } = start('postgres://assay@127.0.0.1:1/assay');
  await stop();
});

t.test('sinks stop while Postgres hangs', async () => {
  const proxy = await world.proxy();
  const { stop, metrics } = start(proxy.url);
  await waitFor('the first round', async () => /^assay_changes_dropped_total/m.test(await metrics.text()));
  proxy.freeze();
  await stop();
});
