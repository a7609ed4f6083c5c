/** The sink: what it does when a filter, a webhook or the feed is in trouble. */
import t from 'tap';
import { MAX_PENDING_DELIVERIES } from '#core/contracts/webhook.ts';
import { noteChange } from '#platform/changes/mod.ts';
import { systemClock } from '#platform/process/clock.ts';
import type { Change } from '../../../../sinks/feed/mod.ts';
import { dropOldDeliveries } from '../../../../sinks/webhooks/keeper.ts';
import { createWebhookSink } from '../../../../sinks/webhooks/sink.ts';
import { waitFor } from '../../../support/assay.ts';
import { silentLog } from '../../../support/world.ts';
import { startWebhookWorld, type WebhookWorld } from './world.ts';

let world: WebhookWorld;
t.before(async () => {
  world = await startWebhookWorld(t, { delivers: false });
});

const URL = 'https://example.com/hook';
const EVENTS = ['request.logged'];
const forget = (id: string) => world.api.call(`/v1/webhook/${id}`, { method: 'DELETE' });
const count = async (id: string) => (await world.deliveries(id)).length;

async function seen(): Promise<void> {
  await waitFor('the sink has seen all', async () => {
    const [row] = await world.api.database
      .sql`select changes from assay.sink_lags(100) where name = 'webhooks'`;
    return row!.changes === 0;
  });
}

/** A change of stored requests, one unless given. */
async function recordChange(requests = 1): Promise<Change> {
  const requestIds = await world.log(Array.from({ length: requests }, () => ({})));
  await seen();
  const keys = await world.api.database.sql<{ createdAt: Date; requestId: string }[]>`
    select created_at as "createdAt", request_id as "requestId" from assay.requests
     where request_id = any(${requestIds})`;
  const { organizationId } = world.api.own;
  return { seq: '999999', organizationId, at: new Date(), kind: 'record', keys: [...keys], details: null };
}

/** Runs `work` while filters on bodies wait, for as long as they are allowed to. */
async function whileBodiesAreLocked<Result>(work: () => Promise<Result>): Promise<Result> {
  const [held, locked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = world.api.database.sql.begin(async (tx) => {
    await tx`lock table assay.request_bodies in access exclusive mode`;
    locked.resolve();
    await held.promise;
  });
  await locked.promise;
  try {
    return await work();
  } finally {
    held.resolve();
    await holding;
  }
}

/** Longer than a filter may be too slow. */
const A_WHILE_MS = 60_000;

/** A sink whose filters have `filterBudgetMs` for a batch, and whose clock can be put forward. */
function impatientSink(filterBudgetMs: number) {
  let aheadMs = 0;
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
  return {
    sink: createWebhookSink({ log: silentLog, clock, filterBudgetMs }),
    pass: (ms: number) => {
      aheadMs += ms;
    },
  };
}

t.test('a filter that Postgres refuses pauses its webhook, and the others get their events', async (t) => {
  const bad = await world.make({ url: URL, events: EVENTS, filter: 'all' });
  const good = await world.make({
    url: URL,
    events: EVENTS,
    filter: { response: { status: { equals: 200 } } },
  });
  await world.api.database.sql`
    update assay.webhooks set filter = '{"response": {"gone": {"equals": 1}}}' where webhook_id = ${bad.id}`;
  await world.log([{}]);
  await seen();
  t.match(await world.get(bad.id), { paused_reason: 'filter', paused_message: /is not a field of response/ });
  t.equal(await count(good.id), 1);
  t.equal(await count(bad.id), 0);
  await Promise.all([forget(bad.id), forget(good.id)]);
});

t.test('a filter that takes too long pauses its webhook, and leaves the transaction as it was', async (t) => {
  const { sql } = world.api.database;
  const slow = await world.make({
    url: URL,
    events: EVENTS,
    filter: { request: { body: { contains: 'x' } } },
  });
  const other = await world.make({ url: URL, events: EVENTS });
  const change = await recordChange();
  await sql`delete from assay.webhook_deliveries`;
  const { sink, pass } = impatientSink(50);
  const timeout = await whileBodiesAreLocked(async () => {
    await t.rejects(
      sql.begin((tx) => sink.apply(tx, [change])),
      { name: 'BatchLate' },
    );
    t.equal((await world.get(slow.id)).state, 'active', 'it is tried again first');
    pass(A_WHILE_MS);
    return await sql.begin(async (tx) => {
      await sink.apply(tx, [change]);
      const [row] = await tx`show statement_timeout`;
      return String(row!.statement_timeout);
    });
  });
  const [usual] = await sql`show statement_timeout`;
  t.equal(timeout, String(usual!.statement_timeout));
  t.match(await world.get(slow.id), {
    paused_reason: 'filter',
    paused_message: "The filters of the organization's webhooks took more than 50 ms for 1 requests",
  });
  t.equal((await world.get(other.id)).state, 'active');
  t.equal(await count(other.id), 1);
  await Promise.all([forget(slow.id), forget(other.id)]);
});

t.test('a filter that takes too long pauses no other webhook of its organization', async (t) => {
  const { sql } = world.api.database;
  // Enough for the quick filter to take some milliseconds.
  const REQUESTS = 80;
  const slow = await world.make({
    url: URL,
    events: EVENTS,
    filter: { request: { body: { contains: 'x' } } },
  });
  const quick = await world.make({ url: URL, events: EVENTS, filter: { response: { status: { gte: 0 } } } });
  const change = await recordChange(REQUESTS);
  await sql`delete from assay.webhook_deliveries`;
  const { sink, pass } = impatientSink(2_000);
  await whileBodiesAreLocked(async () => {
    await t.rejects(
      sql.begin((tx) => sink.apply(tx, [change])),
      { name: 'BatchLate' },
    );
    pass(A_WHILE_MS);
    await sql.begin((tx) => sink.apply(tx, [change]));
  });
  t.equal((await world.get(slow.id)).paused_reason, 'filter');
  t.match(await world.get(quick.id), { state: 'active', missed: null });
  t.equal(await count(quick.id), REQUESTS);
  await Promise.all([forget(slow.id), forget(quick.id)]);
});

t.test('a filter that waited for Postgres a moment pauses nothing, and no event is missed', async (t) => {
  const { sql } = world.api.database;
  const webhook = await world.make({
    url: URL,
    events: EVENTS,
    filter: {
      left: { response: { body: { contains: 'x' } } },
      operator: 'or',
      right: { response: { status: { equals: 200 } } },
    },
  });
  const change = await recordChange();
  const expected = await count(webhook.id);
  await sql`delete from assay.webhook_deliveries`;
  const { sink, pass } = impatientSink(50);
  for (let time = 0; time < 3; time += 1) {
    await whileBodiesAreLocked(() =>
      t.rejects(
        sql.begin((tx) => sink.apply(tx, [change])),
        { name: 'BatchLate' },
      ),
    );
    await sql.begin((tx) => sink.apply(tx, [change]));
    pass(A_WHILE_MS);
  }
  t.match(await world.get(webhook.id), { state: 'active', missed: null });
  t.equal(expected, 1);
  t.equal(await count(webhook.id), expected);
  await forget(webhook.id);
});

t.test('a filter that was paused for its time is not waited for again soon after', async (t) => {
  const { sql } = world.api.database;
  const webhook = await world.make({
    url: URL,
    events: EVENTS,
    filter: { response: { body: { contains: 'a' } } },
  });
  const change = await recordChange();
  const { sink, pass } = impatientSink(50);
  const apply = () => sql.begin((tx) => sink.apply(tx, [change]));
  const isPaused = async () => (await world.get(webhook.id)).state === 'paused';
  const resume = () =>
    world.api.call(`/v1/webhook/${webhook.id}`, { method: 'PATCH', body: { state: 'active' } });
  await whileBodiesAreLocked(async () => {
    await t.rejects(apply(), { name: 'BatchLate' });
    pass(A_WHILE_MS);
    await apply();
    t.ok(await isPaused());
    await resume();
    t.notOk(await isPaused());
    await apply();
    t.ok(await isPaused(), 'at once');
    await resume();
    pass(3_600_000);
    await t.rejects(apply(), { name: 'BatchLate' });
  });
  await forget(webhook.id);
});

t.test('a change that is applied twice makes one delivery', async (t) => {
  const { sql } = world.api.database;
  const { id } = await world.make({ url: URL, events: EVENTS });
  const change = await recordChange();
  await sql`delete from assay.webhook_deliveries`;
  const sink = createWebhookSink({ log: silentLog, clock: systemClock });
  await sql.begin((tx) => sink.apply(tx, [change]));
  const [first] = await world.deliveries(id);
  await sql.begin((tx) => sink.apply(tx, [change]));
  t.same(
    (await world.deliveries(id)).map((one) => one.id),
    [first!.id],
  );
  await forget(id);
});

t.test(
  'a webhook with too many deliveries to be made is paused, and says since when it misses events',
  async (t) => {
    const { sql } = world.api.database;
    const { id } = await world.make({ url: URL, events: EVENTS });
    await sql`
    insert into assay.webhook_deliveries (webhook_id, delivery_id, organization_id, event, event_at, due_at)
    select ${id}, 'msg_' || lpad(n::text, 26, '0'), ${world.api.own.organizationId}, 'request.logged', now(), now()
      from generate_series(1, ${MAX_PENDING_DELIVERIES}) as n`;
    await world.log([{}]);
    await seen();
    const paused = await world.get(id);
    t.match(paused, {
      paused_reason: 'backlog',
      paused_message: `More than ${MAX_PENDING_DELIVERIES} deliveries would wait`,
      pending: MAX_PENDING_DELIVERIES,
      missed: { until: null, reason: 'paused' },
    });
    t.ok(
      paused.missed!.from <= paused.paused_at!,
      'the event that had no room is among those that are missed',
    );
    const { body } = await world.api.call(`/v1/webhook/${id}/redeliver`, {
      body: { since: '2026-01-01T00:00:00Z' },
    });
    t.same(body.data, { redelivered: 0, remaining: 0 });
    await forget(id);
    t.ok((await dropOldDeliveries(sql)) >= MAX_PENDING_DELIVERIES, 'the deliveries of a deleted webhook go');
  },
);

t.test('what happens while a webhook is paused is not delivered later, and it says so', async (t) => {
  const { sql } = world.api.database;
  const { id } = await world.make({ url: URL, events: EVENTS });
  await world.log([{}]);
  await seen();
  await world.change(id, { state: 'paused' });
  // An event from before the pause that the sink comes to see after it.
  await sql`
    insert into assay.changes (organization_id, kind, at, created_ats, request_ids)
    values (${world.api.own.organizationId}, 'record', now() - interval '1 hour', array[now()], array['late'])`;
  await seen();
  const paused = await world.get(id);
  t.ok(Date.parse(paused.paused_at!) - Date.parse(paused.missed!.from) > 3_590_000, 'even what was late');
  const resumed = await world.change(id, { state: 'active' });
  t.match(resumed.missed, { from: paused.missed!.from, until: /Z$/, reason: 'paused' });
  await world.log([{}]);
  await seen();
  t.equal(await count(id), 2, 'the one from before and the one from after');
  await forget(id);
});

t.test('what happens while the feed is lost is not delivered, and webhooks say so', async (t) => {
  const { sql } = world.api.database;
  const active = await world.make({ url: URL, events: EVENTS });
  const paused = await world.make({ url: URL, events: EVENTS });
  await world.change(paused.id, { state: 'paused' });
  const before = await world.get(paused.id);
  const sinceMs = Date.now() - 3_600_000;
  await sql`update assay.webhooks set created_at = ${new Date(sinceMs - 1_000)}`;
  const sink = createWebhookSink({ log: silentLog, clock: systemClock });
  await sql.begin((tx) => sink.resume(tx, sinceMs));
  const since = new Date(sinceMs).toISOString();
  t.match((await world.get(active.id)).missed, { from: since, until: /Z$/, reason: 'feed' });
  t.same((await world.get(paused.id)).missed, { ...before.missed, from: since }, 'a pause lasts');
  t.equal(await count(active.id), 0);
  await Promise.all([forget(active.id), forget(paused.id)]);
});

t.test('an organization without webhooks has no deliveries', async (t) => {
  const { sql } = world.api.database;
  const { organizationId } = world.api.other;
  const keys = [{ createdAt: new Date(), requestId: 'of another' }];
  await sql.begin((tx) => noteChange(tx, { organizationId, kind: 'record', keys }));
  await seen();
  t.same(await sql`select from assay.webhook_deliveries where organization_id = ${organizationId}`, []);
});

t.test('ended deliveries are deleted after a week, and failed ones after a month', async (t) => {
  const { sql } = world.api.database;
  const { id } = await world.make({ url: URL, events: EVENTS });
  const ages = { delivered: [6, 8], cancelled: [6, 8], failed: [8, 29, 31], pending: [100] };
  for (const [state, days] of Object.entries(ages)) {
    for (const age of days) {
      await sql`
        insert into assay.webhook_deliveries
          (webhook_id, delivery_id, organization_id, event, event_at, due_at, state, finished_at)
        values (${id}, ${`${state} ${age}`}, ${world.api.own.organizationId}, 'request.logged', now(), now(), ${state},
                ${state === 'pending' ? null : new Date(Date.now() - age * 86_400_000)})`;
    }
  }
  await sql`delete from assay.webhook_deliveries where webhook_id <> ${id}`;
  t.equal(await dropOldDeliveries(sql), 3);
  const left = await sql<{ id: string }[]>`
    select delivery_id as id from assay.webhook_deliveries where webhook_id = ${id} order by 1`;
  t.same(
    left.map((row) => row.id),
    ['cancelled 6', 'delivered 6', 'failed 29', 'failed 8', 'pending 100'],
  );
  await forget(id);
});
