import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { readUsage } from '#core/limits/mod.ts';
import { waitFor } from '../../support/assay.ts';
import { seededRandom } from '../../support/random.ts';
import { askOf, limitsWorld, makeCounter, makePolicy } from './world.ts';

const world = await limitsWorld(t);
const { sql } = world;

t.test(
  'two hundred calls at once: what is settled is what they cost, and no more is spent than estimates err',
  async (t) => {
    const limiter = world.limiter(t);
    const random = seededRandom(21);
    const counter = makeCounter({ unit: 'cents' });
    const quota = 100_000;
    const policy = makePolicy(quota, 3_600, 'cents');
    const ESTIMATE = 1_000;
    let spent = 0;
    let error = 0;
    let admitted = 0;
    const call = async (reservationId: string) => {
      const { isAdmitted } = await limiter.reserve(counter, policy, {
        reservationId,
        estimateNano: ESTIMATE,
      });
      if (!isAdmitted) return;
      admitted += 1;
      await sleep(random() * 50);
      const isAborted = random() < 0.3;
      // What an aborted call has cost is not known: its estimate stands. The others cost anything.
      const cost = isAborted ? ESTIMATE : Math.floor(random() * 1.6 * ESTIMATE);
      spent += cost;
      error += Math.max(0, cost - ESTIMATE);
      limiter.settle(counter.organizationId, reservationId, isAborted ? null : cost);
      if (random() < 0.2) limiter.settle(counter.organizationId, reservationId, 9_999_999);
    };
    await Promise.all(Array.from({ length: 200 }, (_, id) => call(`${id}`)));
    await waitFor('all is settled', async () => limiter.unsettled() === 0);
    t.equal(admitted, 100);
    t.match(await readUsage(sql, counter.organizationId, 10), [{ used: spent, reserved: 0, quota }]);
    t.ok(spent <= quota + error, `${spent} of ${quota} spent, estimates erred by ${error}`);
  },
);

t.test('what calls did not cost is there for the next ones', async (t) => {
  const limiter = world.limiter(t);
  const counter = makeCounter({ unit: 'cents' });
  const policy = makePolicy(1_000, 3_600, 'cents');
  for (let call = 0; call < 20; call += 1) {
    const reservationId = `${call}`;
    const decision = await limiter.reserve(counter, policy, { reservationId, estimateNano: 900 });
    t.ok(decision.isAdmitted, `call ${call}`);
    limiter.settle(counter.organizationId, reservationId, 10);
    await waitFor('it is settled', async () => limiter.unsettled() === 0);
  }
  t.equal((await world.store().peek(askOf(counter, policy))).used, 200);
});

t.test('a limiter that stops settles first', async (t) => {
  const limiter = world.limiter(t);
  const counter = makeCounter({ unit: 'cents' });
  const policy = makePolicy(1_000_000, 3_600, 'cents');
  const ids = Array.from({ length: 700 }, (_, id) => `${id}`);
  await Promise.all(
    ids.map((reservationId) => limiter.reserve(counter, policy, { reservationId, estimateNano: 100 })),
  );
  for (const id of ids) limiter.settle(counter.organizationId, id, 3);
  await limiter.stop(5_000);
  t.equal((await world.store().peek(askOf(counter, policy))).used, 2_100);
});

t.test('wherever a process is killed, the counter holds each cost, or else its estimate', async (t) => {
  const random = seededRandom(23);
  const counter = makeCounter({ unit: 'cents' });
  const policy = makePolicy(400_000, 3_600, 'cents');
  const program = fileURLToPath(new URL('./spender.ts', import.meta.url));
  const limit = JSON.stringify({ counter, policy });
  const start = (seed: number) =>
    spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, world.url, `${seed}`, limit], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  for (let round = 0; round < 4; round += 1) {
    const children = [start(2 * round), start(2 * round + 1)];
    const before = await sql`select count(*)::int as calls from assay.limit_reservations`;
    await waitFor('it spends', async () => {
      const [now] = await sql`select count(*)::int as calls from assay.limit_reservations`;
      return now!.calls > before[0]!.calls + 40;
    });
    await sleep(random() * 100);
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(children.map((child) => new Promise((resolve) => child.once('exit', resolve))));
  }
  // What the killed ones had sent may still be under way.
  await waitFor('nothing is under way', async () => {
    const [row] = await sql`
      select count(*)::int as busy from pg_stat_activity where application_name = 'spender' and state <> 'idle'`;
    return row?.busy === 0;
  });
  const [held] = await sql`
    select sum(coalesce(settled_nano, estimate_nano))::float8 as charged, count(*)::int as calls,
           count(*) filter (where settled_nano is null)::int as unsettled
      from assay.limit_reservations where organization_id = ${counter.organizationId}`;
  const usage = await readUsage(sql, counter.organizationId, 10);
  t.equal(usage[0]?.used, held?.charged, `${held?.calls} calls, ${held?.unsettled} of them not settled`);
  t.ok(held!.unsettled > 0, 'some were killed between');
  await sql`update assay.limit_reservations set expires_at = now()`;
  t.match(await readUsage(sql, counter.organizationId, 10), [{ used: held!.charged, reserved: 0 }]);
});
