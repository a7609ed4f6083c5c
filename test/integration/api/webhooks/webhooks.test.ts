/** `/v1/webhook`: made, changed, rotated, deleted; its deliveries listed and made again. */
import t from 'tap';
import type { DeliveryPage, NewWebhookJson, WebhookJson } from '#core/contracts/webhook.ts';
import { createSecretBox } from '#platform/secrets/mod.ts';
import { newDeliveryId, openWebhookSecrets } from '#platform/webhooks/mod.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';

const SECRET_KEY = Buffer.alloc(32, 7);
const PATH = '/v1/webhook';
const BODY = { url: 'https://example.com/hook', events: ['request.logged'] };

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t, { environment: { SECRET_KEY: SECRET_KEY.toString('base64') } });
});

async function ok<T>(path: string, options: Parameters<TestApi['call']>[1] = {}): Promise<T> {
  const answer = await api.call(path, options);
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body.data as T;
}

const make = (body: object = {}) => ok<NewWebhookJson>(PATH, { body: { ...BODY, ...body } });
const remove = (id: string) => ok(`${PATH}/${id}`, { method: 'DELETE' });
const change = (id: string, body: object) => ok<WebhookJson>(`${PATH}/${id}`, { method: 'PATCH', body });

t.test('a webhook shows its secret when it is made, and never again', async (t) => {
  const made = await make({ filter: { response: { status: { gte: 500 } } }, payload: 'full' });
  const { secret, ...shown } = made;
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  t.match(shown, { ...BODY, payload: 'full', format: 'standard', state: 'active', missed: null, pending: 0 });
  t.same(await ok(`${PATH}/${made.id}`), shown);
  t.same(await ok(PATH), [shown]);
  const rows = await api.database.sql`
    select w::text as row from assay.webhooks w union all select a::text from assay.audit_log a where target_kind = 'webhook'`;
  for (const { row } of rows) {
    t.notOk(row.includes(secret.slice('whsec_'.length)), 'no row has the secret');
    t.notOk(row.includes(Buffer.from(secret.slice('whsec_'.length), 'base64').toString('hex')));
  }
  const { text } = await api.call(`/v1/audit?target_id=${made.id}`);
  t.match(text, /"url":\{"changed":true\}/);
  t.notOk(text.includes('example.com'), 'nor has the audit log the address, which may be a credential');
  await remove(made.id);
});

t.test('a change keeps what it leaves out', async (t) => {
  const { id } = await make({ filter: { request: { user_id: { equals: 'ada 😀 \0' } } } });
  const changed = await change(id, { events: ['alert.fired', 'request.logged', 'alert.fired'] });
  t.match(changed, { url: BODY.url, events: ['alert.fired', 'request.logged'], payload: 'thin' });
  t.same(changed.filter, { request: { user_id: { equals: 'ada 😀 \ufffd' } } });
  t.match(await change(id, { filter: null, url: 'http://example.org/x' }), {
    filter: null,
    url: 'http://example.org/x',
  });
  t.same(
    (await change(id, { q: 'status:>=500' })).filter,
    { response: { status: { gte: 500 } } },
    'q is stored as a filter',
  );
  t.match(await change(id, { state: 'paused' }), {
    state: 'paused',
    paused_reason: 'caller',
    missed: { until: null },
  });
  const again = await change(id, { state: 'paused' });
  t.match(again, { state: 'paused', paused_reason: 'caller' });
  t.match(await change(id, { state: 'active' }), {
    state: 'active',
    paused_reason: null,
    paused_at: null,
    missed: { from: again.missed!.from, until: /Z$/, reason: 'paused' },
  });
  await remove(id);
});

t.test('a rotation makes a new secret, and seals the old one with it for the overlap', async (t) => {
  const { id, secret: first } = await make();
  const box = createSecretBox([SECRET_KEY]);
  const { organizationId } = api.own;
  const secrets = async () => {
    const [row] = await api.database.sql<
      { sealed: Buffer }[]
    >`select sealed from assay.webhooks where webhook_id = ${id}`;
    return openWebhookSecrets(box, { organizationId, webhookId: id }, row!.sealed);
  };
  const rotate = (overlapSeconds: number) =>
    ok<NewWebhookJson>(`${PATH}/${id}/rotate`, { body: { overlapSeconds } });
  const second = await rotate(3_600);
  t.not(second.secret, first);
  t.ok(Date.parse(second.rotating_until!) - Date.now() > 3_500_000);
  t.same(await secrets(), { secret: second.secret, previous: first });
  const third = await rotate(0);
  t.equal(third.rotating_until, null);
  t.same(await secrets(), { secret: third.secret }, 'without an overlap the old one signs nothing');
  const { text } = await api.call(`/v1/audit?target_id=${id}`);
  t.match(text, /"sealed":\{"changed":true\}/);
  await remove(id);
});

t.test('a deleted webhook is gone, its address and secrets forgotten', async (t) => {
  const { id } = await make();
  t.equal(await remove(id), null);
  for (const [method, path, body] of [
    ['GET', '', undefined],
    ['PATCH', '', { state: 'active' }],
    ['DELETE', '', undefined],
    ['POST', '/rotate', { overlapSeconds: 0 }],
    ['POST', '/test', undefined],
    ['GET', '/deliveries', undefined],
    ['POST', '/redeliver', { since: '2026-01-01' }],
  ] as const) {
    const { status } = await api.call(`${PATH}/${id}${path}`, { method, ...(body && { body }) });
    t.equal(status, 404, `${method} ${path}`);
  }
  t.same(await ok(PATH), []);
  const [row] = await api.database
    .sql`select url, length(sealed) as bytes from assay.webhooks where webhook_id = ${id}`;
  t.match(row, { url: '', bytes: 0 });
});

t.test('an organization can have 20 webhooks, also when two calls make the last one at once', async (t) => {
  const made = await Promise.all(Array.from({ length: 19 }, () => make()));
  const last = await Promise.all([1, 2, 3].map(() => api.call(PATH, { body: BODY })));
  t.same(last.map(({ status }) => status).sort(), [200, 409, 409]);
  t.match(
    last.find(({ status }) => status === 409)!.body.error,
    /has 20 webhooks, which is the most: delete one/,
  );
  const other = await api.call(PATH, { body: BODY, key: api.other.key });
  t.equal(other.status, 200, 'another organization is not concerned');
  const all = await ok<WebhookJson[]>(PATH);
  t.equal(all.length, 20);
  await Promise.all(all.map(({ id }) => remove(id)));
  t.ok(made.length);
});

/** Inserts ended deliveries. Returns their ids, the newest first. */
async function seed(id: string, states: readonly string[], organizationId = api.own.organizationId) {
  const ids = states.map((_, index) => newDeliveryId(Date.now() + index));
  for (const [index, state] of states.entries()) {
    const ended = state === 'pending' || state === 'sending' ? null : new Date(Date.UTC(2026, 0, 1, index));
    await api.database.sql`
      insert into assay.webhook_deliveries
        (webhook_id, delivery_id, organization_id, event, event_at, due_at, state, finished_at, attempts)
      values (${id}, ${ids[index]!}, ${organizationId}, 'request.logged', now(), now() + interval '1 day', ${state}, ${ended}, 7)`;
  }
  return ids.reverse();
}

t.test('deliveries are listed newest first, a page at a time, and by their state', async (t) => {
  const { id } = await make();
  const ids = await seed(id, ['delivered', 'failed', 'delivered', 'pending', 'failed']);
  const page = (query: string) => ok<DeliveryPage>(`${PATH}/${id}/deliveries${query}`);
  const first = await page('?limit=2');
  t.same(
    first.deliveries.map((one) => one.id),
    ids.slice(0, 2),
  );
  const second = await page(`?limit=2&after=${first.next}`);
  t.same(
    second.deliveries.map((one) => one.id),
    ids.slice(2, 4),
  );
  const third = await page(`?limit=2&after=${second.next}`);
  t.same([third.deliveries.map((one) => one.id), third.next], [ids.slice(4), null]);
  const failed = await page('?state=failed');
  t.same(
    failed.deliveries.map((one) => one.id),
    [ids[0], ids[3]],
  );
  t.match(failed.deliveries[0], { due_at: null, attempts: [], reason: null });
  t.match((await page('?state=pending')).deliveries, [{ due_at: /Z$/, finished_at: null }]);
  t.equal((await page('')).deliveries.length, 5);
  t.same(await ok(`${PATH}/${id}/deliveries/${ids[4]}`), third.deliveries[0]);
  await remove(id);
});

t.test(
  'a delivery is made again at once, whatever became of it, except when its request is gone',
  async (t) => {
    const { id } = await make();
    const [cancelled, pending, failed, delivered, sending] = await seed(id, [
      'sending',
      'delivered',
      'failed',
      'pending',
      'cancelled',
    ]);
    const redeliver = (delivery: string | undefined) =>
      api.call(`${PATH}/${id}/deliveries/${delivery}/redeliver`, { method: 'POST' });
    const attempts = async () =>
      Object.fromEntries(
        (
          await api.database.sql`select state, attempts, due_at <= now() as due, delivery_id as id
         from assay.webhook_deliveries where webhook_id = ${id}`
        ).map(({ id, ...row }) => [id, row]),
      );
    t.equal((await redeliver(cancelled)).status, 409);
    for (const one of [pending, failed, delivered, sending]) t.equal((await redeliver(one)).status, 200);
    const rows = await attempts();
    t.match(rows[pending!], { state: 'pending', attempts: 7, due: true }, 'its schedule goes on');
    t.match(rows[failed!], { state: 'pending', attempts: 0, due: true }, 'its schedule begins again');
    t.match(rows[delivered!], { state: 'pending', attempts: 0, due: true });
    t.match(rows[sending!], { state: 'sending', attempts: 7, due: false }, 'it is under way');
    await remove(id);
  },
);

t.test('all deliveries that failed since a moment are made again', async (t) => {
  const { id } = await make();
  const ids = await seed(id, ['failed', 'delivered', 'failed', 'failed']);
  const redeliver = (since: string) => ok(`${PATH}/${id}/redeliver`, { body: { since } });
  t.same(await redeliver('2026-01-01T02:00:00Z'), { redelivered: 2, remaining: 0 });
  const { deliveries } = await ok<DeliveryPage>(`${PATH}/${id}/deliveries`);
  t.same(
    deliveries.map(({ id, state }) => [id, state]),
    [
      [ids[0], 'pending'],
      [ids[1], 'pending'],
      [ids[2], 'delivered'],
      [ids[3], 'failed'],
    ],
  );
  await remove(id);
});

t.test('webhooks and deliveries of another organization are as unknown as made-up ones', async (t) => {
  const { id } = await make();
  const [delivery] = await seed(id, ['failed']);
  const foreign = await api.call(PATH, { body: BODY, key: api.other.key });
  const { id: foreignId } = foreign.body.data as { id: string };
  for (const [method, path, body] of [
    ['GET', `/${id}`, undefined],
    ['PATCH', `/${id}`, { state: 'paused' }],
    ['DELETE', `/${id}`, undefined],
    ['POST', `/${id}/rotate`, { overlapSeconds: 0 }],
    ['POST', `/${id}/test`, undefined],
    ['GET', `/${id}/deliveries`, undefined],
    ['GET', `/${id}/deliveries/${delivery}`, undefined],
    ['POST', `/${id}/deliveries/${delivery}/redeliver`, undefined],
    ['GET', `/${foreignId}/deliveries/${delivery}`, undefined],
    ['POST', `/${foreignId}/deliveries/${delivery}/redeliver`, undefined],
  ] as const) {
    const { status } = await api.call(PATH + path, { method, key: api.other.key, ...(body && { body }) });
    t.equal(status, 404, `${method} ${path}`);
  }
  t.match(await ok(`${PATH}/${id}/deliveries/${delivery}`), { state: 'failed' });
  await remove(id);
});

t.test('a paused webhook is not tested', async (t) => {
  const { id } = await make();
  await change(id, { state: 'paused' });
  const { status, body } = await api.call(`${PATH}/${id}/test`, { method: 'POST' });
  t.match([status, body.error], [409, 'The webhook is paused: resume it before it is tested']);
  await remove(id);
});
