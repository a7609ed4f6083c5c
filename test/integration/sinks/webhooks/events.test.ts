/** Which events webhooks are told of, and what their messages say. */
import t from 'tap';
import type { ChangesOfKind } from '#core/contracts/changes.ts';
import { WEBHOOK_EVENTS } from '#core/contracts/webhook.ts';
import { noteChange } from '#platform/changes/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import type { Receiver } from '../../../support/webhook-receiver.ts';
import { startWebhookWorld, type WebhookWorld } from './world.ts';

let world: WebhookWorld;
let receiver: Receiver;
t.before(async () => {
  world = await startWebhookWorld(t);
});
t.beforeEach(async () => {
  receiver = await world.receiver();
});

async function note(change: ChangesOfKind): Promise<void> {
  const { organizationId } = world.api.own;
  await world.api.database.sql.begin((tx) => noteChange(tx, { organizationId, ...change }));
}

async function keyOf(requestId: string) {
  const [row] = await world.api.database.sql<{ createdAt: Date }[]>`
    select created_at as "createdAt" from assay.requests where request_id = ${requestId}`;
  return { createdAt: row!.createdAt, requestId };
}

/** The receiver's messages by their type, once there are so many. */
async function messages(count: number) {
  await waitFor(`${count} messages`, () => receiver.received.length >= count);
  return new Map(receiver.received.map(({ body }) => [body.type, body.data]));
}

const forget = (id: string) => world.api.call(`/v1/webhook/${id}`, { method: 'DELETE' });

t.test('every event has its own message', async (t) => {
  const { id } = await world.make({ url: receiver.url, events: WEBHOOK_EVENTS });
  const refusal = { status: 429, error_code: 'rate_limit_exceeded', user_id: 'ada' };
  const [requestId] = await world.log([refusal]);
  const keys = [await keyOf(requestId!)];
  await note({ kind: 'score', keys, details: [{ key: 'helpful', value: 0.5 }] });
  await note({ kind: 'feedback', keys, details: [{ rating: null }] });
  await note({ kind: 'property', keys, details: [{ key: 'a', value: 'b' }] });
  const evaluation = { evaluation_id: '7', evaluator_id: 'e', score: 1, is_probe: false };
  await note({
    kind: 'evaluation',
    keys: [...keys, ...keys, ...keys],
    details: [
      { ...evaluation, state: 'completed' },
      { ...evaluation, state: 'error' },
      { ...evaluation, state: 'completed', is_probe: true },
    ],
  });
  await note({
    kind: 'event',
    keys: [],
    details: [
      { type: 'evaluator.paused', evaluator_id: 'e', name: 'Polite', reason: 'auth', message: null },
      { type: 'alert.fired', alert_id: 'a', name: 'Errors' },
      { type: 'alert.resolved', alert_id: 'a', name: 'Errors' },
      { type: 'unknown.thing' },
    ],
  });
  await note({ kind: 'deleted', keys: [{ createdAt: new Date(0), requestId: 'erased' }], details: null });
  const told = await messages(9);
  const request = { request_id: requestId, request_created_at: keys[0]!.createdAt.toISOString() };
  t.match(told.get('request.logged'), { request, payload: 'thin' });
  t.match(told.get('limit.reached'), { request, limit: { user_id: 'ada', api_key_id: null } });
  t.match(told.get('score.written'), { request, score: { key: 'helpful', value: 0.5 } });
  t.match(told.get('feedback.written'), { request, feedback: { rating: null } });
  t.match(told.get('evaluation.completed'), {
    request,
    evaluation: { id: '7', evaluator_id: 'e', score: 1 },
  });
  t.same(told.get('evaluator.paused'), {
    evaluator: { evaluator_id: 'e', name: 'Polite', reason: 'auth', message: null },
  });
  t.same(told.get('alert.fired'), { alert: { alert_id: 'a', name: 'Errors' } });
  t.same(told.get('alert.resolved'), { alert: { alert_id: 'a', name: 'Errors' } });
  t.same(told.get('request.deleted'), {
    request: { request_id: 'erased', request_created_at: '1970-01-01T00:00:00.000Z' },
    payload: 'thin',
  });
  t.equal(receiver.received.length, 9, 'and nothing else has');
  await forget(id);
});

t.test('of calls that a limit refused a webhook is told once a minute, API key and user', async (t) => {
  const { id } = await world.make({ url: receiver.url, events: ['limit.reached'] });
  const refusal = { status: 429, error_code: 'rate_limit_exceeded' };
  const ofProvider = { status: 429, error_code: null };
  const users = ['eve', 'bob', 'eve', 'eve', 'bob'];
  await world.log([...users.map((user_id) => ({ ...refusal, user_id })), { ...ofProvider, user_id: 'carl' }]);
  await world.log(users.map((user_id) => ({ ...refusal, user_id })));
  await waitFor('the sink has seen all', async () => {
    const [row] = await world.api.database
      .sql`select changes from assay.sink_lags(100) where name = 'webhooks'`;
    return row!.changes === 0;
  });
  const rows = await world.api.database.sql<{ user: string; minutes: number }[]>`
    select details -> 'limit' ->> 'user_id' as user, count(*)::int4 as count,
           count(distinct date_trunc('minute', event_at))::int4 as minutes
      from assay.webhook_deliveries where webhook_id = ${id} group by 1 order by 1`;
  t.match(
    rows,
    rows.map(({ user, minutes }) => ({ user, count: minutes })),
    'one for each minute',
  );
  t.same(
    rows.map(({ user }) => user),
    ['bob', 'eve'],
    'and none for a limit of the provider',
  );
  await forget(id);
});

t.test('a webhook of a chat system gets one line, in which names cannot mention anybody', async (t) => {
  const { id } = await world.make({
    url: receiver.url,
    events: ['alert.fired', 'request.logged'],
    format: 'chat',
  });
  await note({
    kind: 'event',
    keys: [],
    details: [{ type: 'alert.fired', name: '<!channel>\n& more', message: 'cost is 3' }],
  });
  await messages(1);
  const { text } = JSON.parse(receiver.received[0]!.text);
  t.equal(text, 'Alert fired: &lt;!channel&gt; &amp; more: cost is 3');
  const [requestId] = await world.log([{ cost_nano: 2_400, latency_ms: 812, model: 'gpt-4o-mini' }]);
  await messages(2);
  t.same(JSON.parse(receiver.received[1]!.text), {
    text: `gpt-4o-mini answered 200 in 812 ms for 0.0000024 USD (request ${requestId})`,
  });
  await forget(id);
});

t.test(
  'the content of an erased request leaves its deliveries, and those still to be made are cancelled',
  async (t) => {
    receiver.answer = (response, { text }) => response.writeHead(500).end(`you sent: ${text}`);
    const { id } = await world.make({ url: receiver.url, events: ['score.written', 'request.deleted'] });
    const [requestId] = await world.log([{}]);
    const keys = [await keyOf(requestId!)];
    await note({ kind: 'score', keys, details: [{ key: 'a secret of the request', value: 1 }] });
    await world.settled(id, 'failed');
    await world.change(id, { state: 'active' });
    await note({ kind: 'score', keys, details: [{ key: 'a secret of the request', value: 2 }] });
    await waitFor('another attempt', () => receiver.received.length > 4);
    const { status } = await world.api.call(`/v1/request/${requestId}`, { method: 'DELETE' });
    t.equal(status, 200);
    await note({ kind: 'deleted', keys, details: null });
    const rows = () =>
      world.api.database.sql`select d::text as row from assay.webhook_deliveries d where webhook_id = ${id}`;
    t.ok((await rows()).length >= 2);
    await waitFor('no row with the content', async () =>
      (await rows()).every(({ row }) => !row.includes('secret of the request')),
    );
    const [cancelled] = await world.deliveries(id, '?state=cancelled');
    t.match(cancelled, { reason: /erased/, due_at: null });
    const again = await world.api.call(`/v1/webhook/${id}/deliveries/${cancelled!.id}/redeliver`, {
      method: 'POST',
    });
    t.equal(again.status, 409);
    await forget(id);
  },
);

t.test('a message about a request that is gone when it is sent is cancelled', async (t) => {
  const { id } = await world.make({ url: receiver.url, events: ['request.logged'] });
  const { sql } = world.api.database;
  receiver.answer = async (response) => {
    await sql`delete from assay.requests where organization_id = ${world.api.own.organizationId}`;
    response.writeHead(500).end();
  };
  await world.log([{}]);
  const { reason, attempts } = await world.settled(id, 'cancelled');
  t.match(reason, /^The request is no longer there/);
  t.equal(attempts.length, 1);
  await forget(id);
});

t.test('a test message is sent once, whatever is answered', async (t) => {
  receiver.answer = (response) => response.writeHead(500).end();
  const { id } = await world.make({ url: receiver.url, events: ['alert.fired'] });
  const { body } = await world.api.call(`/v1/webhook/${id}/test`, { method: 'POST' });
  t.match(body.data, { event: 'webhook.test', state: 'pending', attempts: [] });
  const { attempts } = await world.settled(id, 'failed');
  t.equal(attempts.length, 1);
  t.match(receiver.received[0]!.body, { type: 'webhook.test', data: { message: 'This is a test' } });
  t.equal((await world.get(id)).state, 'active');
  await forget(id);
});
