/** Several webhooks and several couriers at once. */
import t from 'tap';
import { waitFor } from '../../../support/assay.ts';
import { verify } from '../../../support/webhook-receiver.ts';
import { startWebhookWorld, type WebhookWorld } from './world.ts';

let world: WebhookWorld;
t.before(async () => {
  world = await startWebhookWorld(t, { courier: { timeoutMs: 30_000 } });
});

const EVENTS = ['request.logged'];
const forget = (id: string) => world.api.call(`/v1/webhook/${id}`, { method: 'DELETE' });

t.test('receivers that never answer delay no other, of the same organization or another', async (t) => {
  const [slow, fast, foreign] = [await world.receiver(), await world.receiver(), await world.receiver()];
  slow.answer = () => {};
  const stuck = await Promise.all(
    Array.from({ length: 5 }, () => world.make({ url: slow.url, events: EVENTS })),
  );
  const own = await world.make({ url: fast.url, events: EVENTS });
  await world.log(Array.from({ length: 30 }, () => ({})));
  // 150 messages wait for the slow receiver: of 40 at a time, six webhooks get seven each.
  await waitFor('all of the fast receiver', () => fast.received.length >= 30);
  await waitFor('the slow receiver to be full', () => slow.received.length >= 35);
  t.ok(slow.received.length <= 40, `${slow.received.length} attempts at a time`);
  await world.make({ url: foreign.url, events: EVENTS }, world.api.other.key);
  await world.log([{}], world.api.other.organizationId);
  await waitFor('the receiver of the other organization', () => foreign.received.length === 1);
  await Promise.all([...stuck, own].map(({ id }) => forget(id)));
  await slow.stop();
  await slow.start();
});

t.test('several couriers together send each message once', async (t) => {
  const receiver = await world.receiver();
  const { id } = await world.make({ url: receiver.url, events: EVENTS });
  const couriers = [world.courier(), world.courier()];
  await world.log(Array.from({ length: 60 }, () => ({})));
  await waitFor(
    'all deliveries',
    async () => (await world.deliveries(id, '?limit=100&state=delivered')).length === 60,
  );
  t.equal(receiver.received.length, 60);
  t.equal(new Set(receiver.received.map((message) => message.id)).size, 60);
  await Promise.all(couriers.map(({ stop }) => stop()));
  await forget(id);
});

t.test('a courier that stops gives back what it has under way, and another one sends it', async (t) => {
  const receiver = await world.receiver();
  receiver.answer = () => {};
  const lonely = await startWebhookWorld(t, { delivers: false });
  const { id } = await lonely.make({ url: receiver.url, events: EVENTS });
  const first = lonely.courier({ timeoutMs: 30_000 });
  await lonely.log([{}]);
  await waitFor('the first attempt', () => receiver.received.length === 1);
  receiver.answer = (response) => response.writeHead(204).end();
  await first.stop();
  lonely.courier();
  const delivery = await lonely.settled(id, 'delivered');
  t.equal(delivery.attempts.length, 1, 'what was cut off does not count');
  t.same(
    receiver.received.map((message) => message.id),
    [delivery.id, delivery.id],
  );
});

t.test('while a secret is rotated, messages carry the signatures of both', async (t) => {
  const receiver = await world.receiver();
  const { id, secret: first } = await world.make({ url: receiver.url, events: EVENTS });
  const rotate = async (overlapSeconds: number) => {
    const { body } = await world.api.call(`/v1/webhook/${id}/rotate`, { body: { overlapSeconds } });
    return (body.data as { secret: string }).secret;
  };
  const second = await rotate(600);
  await world.log([{}]);
  await waitFor('a message', () => receiver.received.length === 1);
  const [both] = receiver.received;
  t.ok(verify(first, both!));
  t.ok(verify(second, both!));
  await world.api.database.sql`update assay.webhooks set previous_until = now() where webhook_id = ${id}`;
  await world.log([{}]);
  await waitFor('another message', () => receiver.received.length === 2);
  t.throws(() => verify(first, receiver.received[1]!), 'after the overlap the old secret signs nothing');
  t.ok(verify(second, receiver.received[1]!));
  await forget(id);
});

t.test('a webhook whose secret cannot be opened is paused, and loses nothing', async (t) => {
  const receiver = await world.receiver();
  const { id } = await world.make({ url: receiver.url, events: EVENTS });
  await world.api.database
    .sql`update assay.webhooks set sealed = set_byte(sealed, 20, 1) where webhook_id = ${id}`;
  await world.log([{}]);
  await waitFor('a paused webhook', async () => (await world.get(id)).state === 'paused');
  t.match(await world.get(id), { paused_reason: 'secret', pending: 1 });
  await world.api.call(`/v1/webhook/${id}/rotate`, { body: { overlapSeconds: 60 } });
  await world.change(id, { state: 'active' });
  t.match(await world.settled(id, 'delivered'), { attempts: [{ status: 204 }] });
  await forget(id);
});
