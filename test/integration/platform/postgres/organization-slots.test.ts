/** A pool whose connections are shared out among organizations. */
import t from 'tap';
import { AssayError } from '#core/contracts/errors.ts';
import { inOrganization, noteBegun, noteReading, type Sql, withClient } from '#platform/postgres/mod.ts';
import { FairSlots } from '#platform/process/fair-slots.ts';
import { createWorld } from '../../../support/world.ts';

const world = await createWorld(t);
const { organizationId } = await world.organization();

/** Begins a transaction that has its slot until `letGo`. */
async function hold(sql: Sql) {
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const holding = inOrganization(sql, organizationId, async () => {
    begun.resolve();
    await released.promise;
  });
  await begun.promise;
  return async () => {
    released.resolve();
    await holding;
  };
}

/** A pool of one slot, which is taken until `letGo`. */
async function takenPool(patienceMs: number) {
  const slots = new FairSlots({ count: 1, maxWaiting: 2, maxWaitingOfOne: 2, patienceMs });
  const sql = world.connect({ max: 1, slots });
  return { sql, slots, letGo: await hold(sql) };
}

t.test(
  'a transaction that gets no slot in time, or finds the queue full, is refused and not begun',
  async (t) => {
    const { sql, slots, letGo } = await takenPool(100);
    let begun = 0;
    const ask = () =>
      inOrganization(sql, organizationId, async () => {
        begun += 1;
      });
    const asked = await Promise.allSettled([ask(), ask(), ask()]);
    for (const one of asked) t.match(one, { status: 'rejected', reason: { code: 'queries_busy' } });
    t.equal(slots.waiting, 0);
    await letGo();
    await ask();
    t.equal(begun, 1, 'the slot is free again');
  },
);

t.test('a transaction whose client has left while it waited is not begun', async (t) => {
  const { sql, slots, letGo } = await takenPool(60_000);
  const client = new AbortController();
  const gone = new AssayError('client_closed_request', 'gone');
  let isBegun = false;
  const waiting = withClient({ signal: client.signal }, world.sql, () => {
    noteReading(true);
    return inOrganization(sql, organizationId, async () => {
      isBegun = true;
    });
  });
  waiting.catch(() => {});
  t.equal(slots.waiting, 1);
  client.abort(gone);
  await letGo();
  await t.rejects(waiting, gone);
  t.notOk(isBegun);
  t.equal(slots.running, 0);
});

t.test('a slot is given back when a transaction fails', async (t) => {
  const { sql, letGo } = await takenPool(60_000);
  await letGo();
  await t.rejects(
    inOrganization(sql, organizationId, (tx) => tx`select nothing`),
    { code: '42703' },
  );
  t.equal(await inOrganization(sql, organizationId, async () => 1), 1);
});

t.test('a call that has begun something, or has had a transaction, is refused none', async (t) => {
  const { sql, slots, letGo } = await takenPool(50);
  const begun: string[] = [];
  const ask = (name: string) =>
    inOrganization(sql, organizationId, async () => {
      begun.push(name);
    });
  const call = (work: () => Promise<void>) =>
    withClient({ signal: new AbortController().signal }, world.sql, work);
  const refused = call(() => ask('another'));
  const begunCall = call(() => {
    noteBegun();
    return ask('begun');
  });
  await t.rejects(refused, { code: 'queries_busy' });
  t.equal(slots.waiting, 1, 'the one that has begun waits for longer');
  await letGo();
  await begunCall;
  await call(async () => {
    await ask('first');
    const letGoAgain = await hold(sql);
    const later = ask('later');
    await t.rejects(
      call(() => ask('other')),
      { code: 'queries_busy' },
    );
    await letGoAgain();
    await later;
  });
  t.same(begun, ['begun', 'first', 'later']);
});
