/** What a process leaves of the alerts that it has claimed when it is told to stop. */
import { once } from 'node:events';
import t from 'tap';
import { createMetrics } from '#platform/observability/metrics.ts';
import { systemClock } from '#platform/process/clock.ts';
import { settlesWithin } from '#platform/process/deadline.ts';
import { startAlerting } from '../../../../api/alerts/work.ts';
import { silentLog } from '../../../support/world.ts';
import { alertWorld } from './alert-world.ts';

const world = await alertWorld(t);
const { sql, create } = world;

t.test(
  'an alert that is being measured at a stop is released, and told by another process alone',
  async (t) => {
    const { id } = await create({ name: 'slow' });
    await sql`update assay.alert_runs set due_at = now() - interval '1 second'`;
    const measuring = new AbortController();
    const measured = Promise.withResolvers<void>();
    t.teardown(measured.resolve);
    const told: string[] = [];
    const start = (name: string, wait: () => Promise<void>) =>
      startAlerting({
        sql,
        log: silentLog,
        clock: systemClock,
        metrics: createMetrics('test'),
        measure: async () => {
          await wait();
          return [{ group: {}, value: 1 }];
        },
        onEvents: () => told.push(name),
      });
    const stopping = start('stopping', async () => {
      measuring.abort();
      await measured.promise;
    });
    if (!measuring.signal.aborted) await once(measuring.signal, 'abort');

    if (!(await settlesWithin(stopping.stop(), 5_000))) return t.fail('the stop waits for the query');
    const [run] = await sql`select lease, leased_until from assay.alert_runs where alert_id = ${id}`;
    t.strictSame(run, { lease: null, leased_until: null });

    const evaluated = Promise.withResolvers<void>();
    const other = start('other', async () => evaluated.resolve());
    await evaluated.promise;
    await other.stop();
    measured.resolve();
    // The first process ends its transaction, and tries to settle.
    await stopping.stop();
    const history = await sql`select 1 from assay.alert_history where alert_id = ${id}`;
    t.equal(history.length, 1);
    t.strictSame(told, ['other']);
  },
);
