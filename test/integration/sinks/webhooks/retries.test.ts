/** What becomes of deliveries that fail, and of their webhooks. */
import t from 'tap';
import { startDeliveryKeeper } from '../../../../sinks/webhooks/keeper.ts';
import { waitFor } from '../../../support/assay.ts';
import { type Receiver, verify } from '../../../support/webhook-receiver.ts';
import { silentLog } from '../../../support/world.ts';
import { outboundTo, SHORT_WAITS_MS, startWebhookWorld, type WebhookWorld } from './world.ts';

const TIMEOUT_MS = 2_000;

let world: WebhookWorld;
let receiver: Receiver;
t.before(async () => {
  world = await startWebhookWorld(t, { courier: { timeoutMs: TIMEOUT_MS } });
});
t.beforeEach(async () => {
  receiver = await world.receiver();
});

const EVENTS = ['request.logged'];

/** Makes a webhook, and one request that it is told of. */
async function tell() {
  const webhook = await world.make({ url: receiver.url, events: EVENTS });
  await world.log([{}]);
  return webhook;
}

/** Other tests' webhooks want to hear of their own requests alone. */
const forget = (id: string) => world.api.call(`/v1/webhook/${id}`, { method: 'DELETE' });

t.test(
  'a failed delivery is attempted again after each wait of the schedule, with the same id',
  async (t) => {
    receiver.answer = (response) => response.writeHead(500).end('not <b>now</b>\0');
    const { id, secret } = await tell();
    const delivery = await world.settled(id, 'failed');
    t.equal(receiver.received.length, SHORT_WAITS_MS.length);
    t.equal(new Set(receiver.received.map((message) => message.id)).size, 1);
    for (const message of receiver.received) t.same(verify(secret, message), message.body, 'each is signed');
    const times = delivery.attempts.map(({ at }) => Date.parse(at));
    times.slice(1).forEach((time, index) => {
      const waited = time - times[index]!;
      t.ok(waited >= SHORT_WAITS_MS[index + 1]!, `attempt ${index + 2} waited ${waited} ms`);
    });
    t.match(delivery.attempts[0], {
      status: 500,
      error: 'The receiver answered with status 500',
      answer: 'not <b>now</b>\ufffd',
    });
    await forget(id);
  },
);

t.test('a webhook is paused when a delivery failed to the end and none succeeded meanwhile', async (t) => {
  receiver.answer = (response) => response.writeHead(503).end();
  const { id } = await tell();
  await waitFor('a paused webhook', async () => (await world.get(id)).state === 'paused');
  const paused = await world.get(id);
  t.match(paused, {
    paused_reason: 'failing',
    paused_message: /^Nothing could be delivered since .*: The receiver answered with status 503$/,
    missed: { until: null, reason: 'paused' },
  });
  await world.log([{}]);
  await waitFor('the sink has seen it', async () => {
    const [row] = await world.api.database
      .sql`select changes from assay.sink_lags(100) where name = 'webhooks'`;
    return row!.changes === 0;
  });
  t.equal((await world.deliveries(id)).length, 1, 'a paused webhook is told of nothing new');

  receiver.answer = (response) => response.writeHead(200).end('fine');
  const resumed = await world.change(id, { state: 'active' });
  t.match(resumed, {
    state: 'active',
    paused_reason: null,
    missed: { from: paused.missed!.from, until: /Z$/ },
  });
  await world.api.call(`/v1/webhook/${id}/redeliver`, { body: { since: paused.created_at } });
  const delivery = await world.settled(id, 'delivered');
  t.equal(delivery.attempts.length, SHORT_WAITS_MS.length + 1, 'a redelivery keeps what was tried before');
  t.equal(new Set(receiver.received.map((message) => message.id)).size, 1, 'and has the same id');
  const { body } = await world.api.call(`/v1/audit?target_kind=webhook&target_id=${id}`);
  const entries = (body.data as { entries: { actor: { kind: string }; changes: Record<string, unknown> }[] })
    .entries;
  t.match(entries, [
    { actor: { kind: 'api_key' }, changes: { paused_reason: { from: 'failing', to: null } } },
    { actor: { kind: 'system' }, changes: { paused_reason: { from: null, to: 'failing' } } },
    {
      actor: { kind: 'api_key' },
      action: 'create',
      changes: { url: { changed: true }, sealed: { changed: true } },
    },
  ]);
  await forget(id);
});

t.test('a webhook that took something meanwhile is not paused for one message that it refuses', async (t) => {
  let refused = '';
  receiver.answer = (response, message) => {
    refused ||= message.id;
    response.writeHead(message.id === refused ? 400 : 200).end();
  };
  const { id } = await tell();
  await waitFor('the first attempt', () => receiver.received.length > 0);
  let logged = 1;
  await waitFor('a failed delivery', async () => {
    await world.log([{}]);
    logged += 1;
    return (await world.deliveries(id, '?state=failed')).length === 1;
  });
  const [failed] = await world.deliveries(id, '?state=failed');
  t.equal(failed!.id, refused);
  t.equal((await world.get(id)).state, 'active');
  // A request still under way would be told to the next test's webhook.
  await waitFor(
    'the other deliveries',
    async () => (await world.deliveries(id, '?state=delivered&limit=100')).length === logged - 1,
  );
  await forget(id);
});

t.test('Retry-After puts off the delivery, and with 429 the whole webhook', async (t) => {
  receiver.answer = (response, { headers }) => {
    const isFirst = receiver.received.length === 1;
    t.ok(headers['webhook-timestamp']);
    response.writeHead(isFirst ? 429 : 200, isFirst ? { 'retry-after': '1' } : {}).end();
  };
  const { id } = await tell();
  await waitFor('the first attempt', async () => (await world.deliveries(id))[0]?.attempts.length === 1);
  const { atMs } = receiver.received[0]!;
  await world.log([{}]);
  await waitFor('both deliveries', async () => (await world.deliveries(id, '?state=delivered')).length === 2);
  t.equal(receiver.received.length, 3);
  for (const message of receiver.received.slice(1)) {
    t.ok(message.atMs - atMs >= 1_000, `the receiver rested ${message.atMs - atMs} ms`);
  }
  await forget(id);
});

t.test('a rest that a receiver asks for ends with its address', async (t) => {
  const asking: (() => void)[] = [];
  const askForRest: Receiver['answer'] = (response) => {
    asking.push(() => response.writeHead(429, { 'retry-after': '3600' }).end());
  };
  const isAnswered = async () => (await world.deliveries(id))[0]?.attempts.length === 1;
  const [second, third] = [await world.receiver(), await world.receiver()];
  receiver.answer = askForRest;
  second.answer = askForRest;
  const { id } = await tell();
  await waitFor('an attempt at the first address', () => asking.length === 1);
  asking[0]!();
  await waitFor('its answer', isAnswered);
  await world.change(id, { url: second.url });
  await world.log([{}]);
  await waitFor('an attempt at the second address', () => asking.length === 2, 5_000);
  await world.change(id, { url: third.url });
  asking[1]!();
  await waitFor('its answer, after the change', isAnswered);
  await world.log([{}]);
  const isDelivered = async () => (await world.deliveries(id))[0]?.state === 'delivered';
  await waitFor('a delivery at the third address', isDelivered, 5_000);
  t.equal(third.received.length, 1);
  await forget(id);
});

t.test(
  'a clock that was ahead and is set back keeps no delivery waiting until it is there again',
  async (t) => {
    const { sql } = world.api.database;
    const { organizationId } = world.api.own;
    const { id } = await world.make({ url: receiver.url, events: EVENTS });
    const later = (hours: number) => new Date(Date.now() + hours * 3_600_000);
    const insert = (name: string, state: string, dueAt: Date, triedAt: Date | null) => sql`
    insert into assay.webhook_deliveries
      (webhook_id, delivery_id, organization_id, event, event_at, state, due_at, attempts, tries)
    values (${id}, ${name}, ${organizationId}, 'evaluator.paused', now(), ${state}, ${dueAt}, ${triedAt === null ? 0 : 1},
            ${sql.json(triedAt === null ? [] : [{ at: triedAt.toISOString(), duration_ms: 1, status: 500, error: 'no', answer: null }])})`;
    await insert('new', 'pending', later(5), null);
    await insert('under way', 'sending', later(5), null);
    await insert('failed once', 'pending', later(5), later(5));
    await insert('asked to wait', 'pending', later(20), later(0));
    await insert('tried before', 'pending', later(60 * 24), later(-1));
    await sql`update assay.webhooks set not_before = ${later(5)} where webhook_id = ${id}`;
    const keeper = startDeliveryKeeper({ sql, log: silentLog });
    t.teardown(() => keeper.stop());
    await waitFor('the one that is due at once', () => receiver.received.length > 0);
    const received = () => receiver.received.map((message) => message.id);
    t.same(received(), ['new']);
    const waits = await sql<{ id: string; hours: number }[]>`
    select delivery_id as id, extract(epoch from due_at - now())::float8 / 3600 as hours from assay.webhook_deliveries
     where webhook_id = ${id} and state in ('pending', 'sending') and delivery_id <> 'new' order by 1`;
    t.match(waits, [
      { id: 'asked to wait' },
      { id: 'failed once' },
      { id: 'tried before' },
      { id: 'under way' },
    ]);
    t.ok(waits[0]!.hours > 19, 'a receiver that asked for a wait by the clock of today has it');
    t.ok(waits[1]!.hours * 3_600 <= 6, 'the wait after a first failure is 5 seconds, and a fifth at most');
    t.ok(waits[2]!.hours * 3_600 <= 6, 'no delivery waits for months');
    t.ok(waits[3]!.hours * 3_600 <= 30, 'a lease is 30 seconds');
    await waitFor('the retries', () => receiver.received.length > 2, 15_000);
    t.same(received().sort(), ['failed once', 'new', 'tried before']);
    await forget(id);
  },
);

t.test('410 pauses a webhook at once, and its delivery is not attempted again', async (t) => {
  receiver.answer = (response) => response.writeHead(410).end();
  const { id } = await tell();
  const delivery = await world.settled(id, 'failed');
  t.equal(delivery.attempts.length, 1);
  t.match(await world.get(id), { state: 'paused', paused_reason: 'gone' });
  await forget(id);
});

t.test('a redirect is a failure, and is not followed', async (t) => {
  const elsewhere = await world.receiver();
  receiver.answer = (response) => response.writeHead(302, { location: elsewhere.url }).end();
  const { id } = await tell();
  const { attempts } = await world.settled(id, 'failed');
  t.match(attempts[0], {
    status: 302,
    error: 'The receiver answered with a redirect (302): none is followed',
  });
  t.equal(elsewhere.received.length, 0);
  await forget(id);
});

t.test(
  'no answer in time is a failure; an answer in time whose body does not end is a success',
  async (t) => {
    receiver.answer = (response) => {
      if (receiver.received.length === 1) return;
      response.writeHead(200, { 'content-length': 2_000_000 }).write('x'.repeat(5_000));
    };
    const { id } = await tell();
    const { attempts } = await world.settled(id, 'delivered');
    t.match(attempts, [
      { status: null, error: `127.0.0.1 did not answer within ${TIMEOUT_MS} ms`, answer: null },
      { status: 200, error: null },
    ]);
    t.equal(attempts[1]!.answer, 'x'.repeat(1_024), 'a kilobyte of it is kept');
    await forget(id);
  },
);

t.test(
  'a receiver that cannot be reached, or must not be, is a failure that names no more than the host',
  async (t) => {
    const outbound = outboundTo([]);
    t.teardown(() => outbound.close());
    await receiver.stop();
    const { id } = await world.make({ url: `${receiver.url}?token=very-secret`, events: EVENTS });
    await world.log([{}]);
    const { attempts } = await world.settled(id, 'failed');
    t.match(attempts[0], { status: null, error: '127.0.0.1 could not be reached' });
    await receiver.start();
    await forget(id);
  },
);

t.test(
  'a courier that nothing wakes attempts retries, and what had to rest, when they are due',
  async (t) => {
    const own = await startWebhookWorld(t, { delivers: false });
    const { courier } = own.courier({
      longestSleepMs: () => 3_600_000,
      schedule: { waitsMs: [0, 600, 600, 600], random: () => 0 },
    });
    const answers = [500, 429, 200];
    receiver.answer = (response) => {
      const status = answers.shift() ?? 200;
      response.writeHead(status, status === 429 ? { 'retry-after': '1' } : {}).end();
    };
    const { id } = await own.make({ url: receiver.url, events: EVENTS });
    await own.log([{}]);
    await waitFor('the delivery', async () => (await own.deliveries(id)).length === 1);
    courier.wake();
    const { attempts } = await own.settled(id, 'delivered');
    t.same(
      attempts.map(({ status }) => status),
      [500, 429, 200],
    );
  },
);
