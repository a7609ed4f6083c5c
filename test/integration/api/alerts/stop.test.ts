/** Alerts that a process has claimed when it is told to stop. */
import { once } from 'node:events';
import t from 'tap';
import { createMetrics } from '#platform/observability/metrics.ts';
import { systemClock } from '#platform/process/clock.ts';
import { settlesWithin } from '#platform/process/deadline.ts';
import { createEvaluator, startAlerting } from '../../../../api/alerts/work.ts';
import { openConnections } from '../../../../api/connections.ts';
import { waitFor } from '../../../support/assay.ts';
import { openTransaction } from '../../../support/postgres.ts';
import { silentLog } from '../../../support/world.ts';
import { alertWorld } from './alert-world.ts';

const world = await alertWorld(t);
const { sql, create, database } = world;

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

t.test('alerts are released while as many are slow as are measured at a time', async (t) => {
  const organizations = [world.own, world.other, (await world.organization()).organizationId];
  for (const organizationId of organizations) await create({}, organizationId);
  await sql`update assay.alert_runs set due_at = now() - interval '1 second', lease = null, leased_until = null`;
  const { alertSql, closing } = openConnections(database.url);
  t.teardown(async () => {
    for (const { run } of closing) await run();
  });
  let measuring = 0;
  const alerting = startAlerting({
    sql: alertSql,
    log: silentLog,
    clock: systemClock,
    metrics: createMetrics('test'),
    measure: async (tx) => {
      measuring += 1;
      await tx`select pg_sleep(4)`;
      return [];
    },
    onEvents: () => {},
  });
  await waitFor('two alerts to be measured', () => measuring === 2);
  const leased = () => sql`select from assay.alert_runs where lease is not null`;
  t.equal((await leased()).length, 3);
  await alerting.stop();
  t.equal((await leased()).length, 0);
});

t.test('alerts that a stop finds being claimed are released, and not measured', async (t) => {
  await sql`update assay.alert_runs set due_at = now() - interval '1 second', lease = null, leased_until = null`;
  let measured = 0;
  const evaluator = createEvaluator({
    sql: world.connect({ max: 3, statementTimeoutMs: 5_000 }),
    log: silentLog,
    clock: systemClock,
    metrics: createMetrics('test'),
    measure: async () => {
      measured += 1;
      return [];
    },
    onEvents: () => {},
  });
  const lock = await openTransaction(sql, (tx) => tx`lock table assay.alert_runs in share mode`);
  const next = evaluator.next();
  await waitFor('the claim', async () => {
    const waiting = await sql`
      select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    return waiting.length > 0;
  });
  const released = evaluator.release();
  await lock.end();
  await released;
  t.notOk(await next);
  t.equal(measured, 0);
  const leased = await sql`select from assay.alert_runs where lease is not null`;
  t.equal(leased.length, 0);
});
