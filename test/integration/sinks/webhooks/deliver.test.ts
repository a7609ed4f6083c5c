/** What receivers get: messages, signatures, and what is told of them afterwards. */
import { createHmac } from 'node:crypto';
import t from 'tap';
import { waitFor } from '../../../support/assay.ts';
import { verify } from '../../../support/webhook-receiver.ts';
import { startWebhookWorld, type WebhookWorld } from './world.ts';

let world: WebhookWorld;
t.before(async () => {
  world = await startWebhookWorld(t);
});

t.test(
  'a logged request is posted once, signed so that the library of the standard verifies it',
  async (t) => {
    const receiver = await world.receiver();
    const { id, secret } = await world.make({ url: receiver.url, events: ['request.logged'] });
    const [requestId] = await world.log([{ user_id: 'ada', cost_nano: 2_400, total_tokens: 24 }]);
    const delivery = await world.settled(id, 'delivered');
    t.equal(receiver.received.length, 1);
    const [message] = receiver.received;
    t.same(verify(secret, message!), message!.body);
    const { 'webhook-id': webhookId, 'webhook-timestamp': timestamp } = message!.headers;
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    const expected = createHmac('sha256', key)
      .update(`${webhookId}.${timestamp}.${message!.text}`)
      .digest('base64');
    t.equal(message!.headers['webhook-signature'], `v1,${expected}`, 'and so does an HMAC by hand');
    t.equal(webhookId, delivery.id);
    t.match(message!.body, {
      type: 'request.logged',
      data: {
        payload: 'thin',
        request: {
          request_id: requestId,
          request_user_id: 'ada',
          cost: 0.0000024,
          total_tokens: 24,
          response_status: 200,
        },
      },
    });
    t.notOk('request_body' in (message!.body.data.request as object), 'a thin message has no bodies');
    t.match(delivery.attempts, [{ status: 204, error: null, answer: '' }]);
    await world.change(id, { state: 'paused' });
  },
);

t.test(
  'a delivery that one process after another died with is given up, and can be made again',
  async (t) => {
    const receiver = await world.receiver();
    const { id } = await world.make({ url: receiver.url, events: ['request.logged'] });
    await world.log([{}]);
    const { id: deliveryId } = await world.settled(id, 'delivered');
    const { sql } = world.api.database;
    const loseAfter = (times: number) => sql`
    update assay.webhook_deliveries set state = 'sending', due_at = now(), lost = ${times}, finished_at = null
     where webhook_id = ${id}`;
    await loseAfter(8);
    await waitFor('the ninth to make it', () => receiver.received.length === 2);
    await world.settled(id, 'delivered');
    await loseAfter(9);
    const { reason } = await world.settled(id, 'failed');
    t.match(reason, /^The last 10 processes/);
    t.equal(receiver.received.length, 2);
    const { status } = await world.api.call(`/v1/webhook/${id}/deliveries/${deliveryId}/redeliver`, {
      body: {},
    });
    t.equal(status, 200);
    await waitFor('it to be made again', () => receiver.received.length === 3);
    await world.change(id, { state: 'paused' });
  },
);

t.test('a full message has the record as a query shows it', async (t) => {
  const receiver = await world.receiver();
  const { id } = await world.make({ url: receiver.url, events: ['request.logged'], payload: 'full' });
  const text = 'odd 😀 \\u0000 text';
  const [requestId] = await world.log([{ request_text: JSON.stringify({ messages: [{ content: text }] }) }]);
  await world.settled(id, 'delivered');
  const [record] = await world.api.query({ filter: { request: { id: { equals: requestId } } } });
  t.same(receiver.received[0]!.body.data, { request: record, payload: 'full' });
  await world.change(id, { state: 'paused' });
});

t.test('a full message that would be larger than 256 KiB becomes a thin one, and says so', async (t) => {
  const receiver = await world.receiver();
  const { id } = await world.make({ url: receiver.url, events: ['request.logged'], payload: 'full' });
  for (const size of [250_000, 262_000, 300_000]) {
    const [requestId] = await world.log([
      { request_text: JSON.stringify({ text: 'x'.repeat(size) }), response_text: '{}' },
    ]);
    await waitFor('the message', () => receiver.received.at(-1)?.text.includes(requestId!) === true);
    const { text, body } = receiver.received.at(-1)!;
    t.ok(Buffer.byteLength(text) <= 256 * 1024, `${size} characters come as ${text.length}`);
    if (size === 250_000) t.match(body.data, { payload: 'full', reduced: undefined });
    else t.match(body.data, { payload: 'thin', reduced: true, request: { request_id: requestId } });
  }
  await world.change(id, { state: 'paused' });
});

t.test(
  'a webhook with a filter gets the requests that pass it, and another organization gets nothing',
  async (t) => {
    const receiver = await world.receiver();
    const { id } = await world.make({
      url: receiver.url,
      events: ['request.logged'],
      filter: { response: { status: { gte: 500 } } },
    });
    const foreign = await world.make({ url: receiver.url, events: ['request.logged'] }, world.api.other.key);
    const [, failed] = await world.log([
      { status: 200 },
      { status: 503 },
      { source: 'evaluator', status: 500 },
    ]);
    await world.settled(id, 'delivered');
    t.same(
      receiver.received.map(({ body }) => (body.data.request as { request_id: string }).request_id),
      [failed],
    );
    t.same(
      await world.api.database.sql`select from assay.webhook_deliveries where webhook_id = ${foreign.id}`,
      [],
    );
    await world.change(id, { state: 'paused' });
  },
);
