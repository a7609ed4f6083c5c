import t from 'tap';
import { startTestGateway } from '../../support/gateway.ts';

const PAGE = 'https://app.example.com';
const OTHER = 'https://other.example.com';
const CALL = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };

const gateway = await startTestGateway(t, { GATEWAY_ALLOWED_ORIGINS: `${PAGE},http://localhost:5173` });

function preflight(url: string, origin: string, method = 'POST') {
  const headers = {
    origin,
    'access-control-request-method': method,
    'access-control-request-headers': 'authorization,content-type,service-user-id,x-stainless-os',
  };
  return fetch(url, { method: 'OPTIONS', headers });
}

/** Returns whether a browser lets a page of `origin` read the response. */
const isReadable = (response: Response, origin: string) =>
  response.headers.get('access-control-allow-origin') === origin;

t.test(
  'a page of an origin that the operator names may call, with whatever headers its client sends',
  async (t) => {
    for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/models', '/v1/models/gpt-4o-mini']) {
      const response = await preflight(gateway.url + path, PAGE);
      t.equal(response.status, 204, path);
      t.equal(await response.text(), '');
      const headers = Object.fromEntries(response.headers);
      t.match(headers, {
        'access-control-allow-origin': PAGE,
        'access-control-allow-methods': 'GET, HEAD, POST',
        'access-control-allow-headers': 'authorization,content-type,service-user-id,x-stainless-os',
        vary: 'origin, access-control-request-headers',
      });
      t.notOk('access-control-allow-credentials' in headers, 'no cookie of this host is sent along');
    }
  },
);

t.test('the page reads responses with all of their headers, streams and errors, too', async (t) => {
  for (const [body, status] of [
    [CALL, 200],
    [{ ...CALL, stream: true }, 200],
    [{ ...CALL, model: 'nobody-knows' }, 404],
    ['{', 400],
  ] as const) {
    const response = await gateway.chat(body, { origin: PAGE });
    t.equal(response.status, status);
    t.ok(isReadable(response, PAGE));
    t.equal(response.headers.get('access-control-expose-headers'), '*');
    t.ok(response.headers.has('service-request-id'));
    await response.text();
  }
  const list = await fetch(`${gateway.url}/v1/models`, { headers: { origin: PAGE } });
  t.ok(isReadable(list, PAGE));
  t.equal(list.headers.get('vary'), 'anthropic-version, origin', 'no cache gives it to another page');
  await list.text();
});

t.test('other pages may not, and clients without an origin see no difference', async (t) => {
  for (const origin of [OTHER, 'null', `${PAGE}.evil.example`, 'http://app.example.com']) {
    const asked = await preflight(`${gateway.url}/v1/chat/completions`, origin);
    t.equal(asked.status, 405, origin);
    t.notOk(asked.headers.has('access-control-allow-origin'));
    await asked.text();
    const response = await gateway.chat(CALL, { origin });
    t.notOk(response.headers.has('access-control-allow-origin'), origin);
    await response.text();
  }
  const plain = await gateway.chat(CALL);
  t.equal(plain.status, 200);
  t.notOk(plain.headers.has('access-control-allow-origin'));
  t.equal(plain.headers.get('vary'), 'origin', 'its response may be cached, and given to a page');
  await plain.text();
});
