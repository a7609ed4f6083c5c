/** When the API's loop evaluates alerts: neither later than they are due, nor by asking again and again. */
import t from 'tap';
import { createMetrics } from '#platform/observability/metrics.ts';
import { systemClock } from '#platform/process/clock.ts';
import { startAlerting } from '../../../../api/alerts/work.ts';
import { waitFor } from '../../../support/assay.ts';
import { silentLog } from '../../../support/world.ts';
import { alertWorld } from './alert-world.ts';

const world = await alertWorld(t);
const { sql, create } = world;

t.test(
  'an alert is evaluated when it is due, and when its lease is over, and fired ones are told',
  async (t) => {
    const [due, leased] = [await create({ name: 'due' }), await create({ name: 'leased' })];
    // Before the moments are written: none of them can come earlier than it says.
    const startedAt = performance.now();
    await sql`update assay.alert_runs set due_at = now() + interval '700 ms' where alert_id = ${due.id}`;
    await sql`
    update assay.alert_runs set due_at = now() - interval '1 minute', lease = gen_random_uuid(),
           leased_until = now() + interval '1400 ms'
     where alert_id = ${leased.id}`;
    const evaluated: { name: string; afterMs: number }[] = [];
    let events = 0;
    const alerting = startAlerting({
      sql,
      log: silentLog,
      clock: systemClock,
      metrics: createMetrics('test'),
      measure: async (_tx, _organizationId, { name }) => {
        evaluated.push({ name, afterMs: performance.now() - startedAt });
        return [{ group: {}, value: 1 }];
      },
      onEvents: () => {
        events += 1;
      },
    });
    t.teardown(() => alerting.stop());
    await waitFor('both', () => events === 2);
    const firstMs = (wanted: string) => evaluated.find(({ name }) => name === wanted)!.afterMs;
    t.ok(firstMs('due') >= 700);
    t.ok(firstMs('leased') >= 1_400);
    // One that was evaluated just before a minute is stored is due again then.
    t.ok(evaluated.length <= 3, `${evaluated.length} evaluations`);
  },
);
