/** Bodies and parameters that `/v1/webhook` refuses, and the sentences that say why. */
import t from 'tap';
import { MAX_WEBHOOKS } from '#core/contracts/webhook.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';

const BODY = { url: 'https://example.com/hook', events: ['request.logged'] };
const PATH = '/v1/webhook';

let api: TestApi;
let id: string;
t.before(async () => {
  api = await startTestApi(t, { environment: { SECRET_KEY: Buffer.alloc(32, 7).toString('base64') } });
  const { body } = await api.call(PATH, { body: BODY });
  id = (body.data as { id: string }).id;
});

const refusals: readonly [body: object, sentence: RegExp][] = [
  [{ url: undefined }, /^url is required/],
  [{ url: 'ftp://example.com' }, /^url must be a whole http or https address$/],
  [{ url: 'https://user:very-secret@example.com' }, /^url must not hold a user name or a password$/],
  [{ url: 'http://127.0.0.1/' }, /^url must lead to a public host, or to one that OUTBOUND_ALLOW admits$/],
  [{ url: 'http://169.254.169.254/latest' }, /^url must lead to a public host/],
  [{ url: 'http://localhost/' }, /^url must lead to a public host/],
  [{ url: `https://example.com/${'very-secret'.repeat(200)}` }, /^url must have at most 2048 characters/],
  [{ url: 7 }, /^url must be a string/],
  [{ events: [] }, /^events must hold at least 1 items, but holds 0/],
  [{ events: ['request.made'] }, /^events.0 must be one of "request.logged", .*but is "request.made"/],
  [{ events: Array(10).fill('request.logged') }, /^events must hold at most 9 items/],
  [{ payload: 'fat' }, /^payload must be one of "thin", "full"/],
  [{ format: 'slack' }, /^format must be one of "standard", "chat"/],
  [{ payload: 'full', format: 'chat' }, /^payload must be "thin" with the format "chat"/],
  [{ filter: { response: { state: { equals: 1 } } } }, /^filter.response.state is not a field of response/],
  [
    { events: ['alert.fired'], filter: 'all' },
    /^filter must be left out or null, because none of the events is filtered/,
  ],
  [{ filter: 'all', q: 'status:200' }, /^q and filter exclude each other/],
  [{ q: 'status:' }, /^q/],
  [{ secret: 'whsec_x' }, /^secret is not a known field/],
];

for (const [wrong, sentence] of refusals) {
  t.test(`a webhook is not made of ${JSON.stringify(wrong).slice(0, 80)}`, async (t) => {
    const { status, body, text } = await api.call(PATH, { body: { ...BODY, ...wrong } });
    t.equal(status, 400);
    t.match(body.error, sentence);
    t.notOk(text.includes('very-secret'), 'an address is not quoted');
    if ('url' in wrong && wrong.url === undefined) return;
    const changed = await api.call(`${PATH}/${id}`, { method: 'PATCH', body: wrong });
    t.equal(changed.status, 400, 'nor is one changed to it');
    t.match(changed.body.error, sentence);
  });
}

t.test('a change is checked together with what it leaves', async (t) => {
  const chat = await api.call(`${PATH}/${id}`, { method: 'PATCH', body: { format: 'chat' } });
  t.equal(chat.status, 200);
  const full = await api.call(`${PATH}/${id}`, { method: 'PATCH', body: { payload: 'full' } });
  t.match([full.status, full.body.error], [400, /^payload must be "thin"/]);
  await api.call(`${PATH}/${id}`, { method: 'PATCH', body: { format: 'standard' } });
});

t.test('what a change, a rotation and a redelivery refuse', async (t) => {
  const call = async (method: string, path: string, body?: object) => {
    const answer = await api.call(`${PATH}/${id}${path}`, { method, ...(body && { body }) });
    return [answer.status, answer.body.error];
  };
  t.match(await call('PATCH', '', { state: 'failing' }), [400, /^state must be one of "active", "paused"/]);
  t.match(await call('PATCH', '', { id: 'x' }), [400, /^id is not a known field/]);
  t.match(await call('POST', '/rotate', {}), [400, /^overlapSeconds is required/]);
  t.match(await call('POST', '/rotate', { overlapSeconds: 604_801 }), [400, /must be at most 604800/]);
  t.match(await call('POST', '/rotate', { overlapSeconds: -1 }), [400, /must be at least 0/]);
  t.match(await call('POST', '/redeliver', {}), [400, /^since is required/]);
  t.match(await call('POST', '/redeliver', { since: 'yesterday' }), [
    400,
    /^since must be an RFC 3339 timestamp/,
  ]);
  t.match(await call('POST', '/redeliver', { since: '0000-01-01T00:00:00Z' }), [400, /^since must be/]);
  t.match(await call('GET', '/deliveries?limit=0'), [400, /^limit must be a whole number from 1 to 100/]);
  t.match(await call('GET', '/deliveries?after=x'), [400, /^after must be the `next` of an earlier page/]);
  t.match(await call('GET', '/deliveries?state=lost'), [400, /^state must be one of/]);
  t.match(await call('GET', '/deliveries?page=2'), [400, /^page is not a known field/]);
  for (const odd of ['x', 'msg_', `msg_${'0'.repeat(27)}`, 'msg_%00', "'", '%F0%9F%98%80']) {
    t.match(await call('GET', `/deliveries/${odd}`), [404, /has no delivery with the id/]);
    t.match(await call('POST', `/deliveries/${odd}/redeliver`), [404, /has no delivery with the id/]);
  }
});

t.test('without a SECRET_KEY no webhook is made, because its secret could not be kept', async (t) => {
  const bare = await startTestApi(t);
  const { status, body } = await bare.call(PATH, { body: BODY });
  t.match([status, body.error], [400, /SECRET_KEY is not set/]);
  t.ok(MAX_WEBHOOKS > 0);
});
