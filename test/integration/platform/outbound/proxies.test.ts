/** Calls to addresses that users chose, through the operator's proxy: the guard holds there as well. */
import type { LookupAddress } from 'node:dns';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import t, { type Test } from 'tap';
import { createOutbound, OutboundError, parseAllowList } from '#platform/outbound/mod.ts';
import { parseProxyAddress } from '#platform/proxy/mod.ts';
import { type ConnectProxy, startConnectProxy } from '../../../support/connect-proxy.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from './certificate.ts';

/** Public addresses without an owner: the proxy of these tests maps them. */
const PUBLIC = '93.184.215.14';
const PUBLIC_V6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c';

async function listen(t: Test, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function setUp(
  t: Test,
  proxy: ConnectProxy,
  names: Record<string, string[]>,
  options: { admitted?: string[]; ca?: string; connectMs?: number } = {},
) {
  const parsed = parseAllowList(options.admitted ?? []);
  if ('badEntry' in parsed) throw new Error(parsed.badEntry);
  const address = parseProxyAddress(`http://127.0.0.1:${proxy.port}`)!;
  const lookups: string[] = [];
  const outbound = createOutbound({
    allow: parsed.allow,
    ca: options.ca,
    connectMs: options.connectMs ?? 2_000,
    proxyFor: () => address,
    lookup: (host, _options, done) => {
      lookups.push(host);
      const found: LookupAddress[] = (names[host] ?? []).map((text) => ({
        address: text,
        family: text.includes(':') ? 6 : 4,
      }));
      setImmediate(() =>
        found.length > 0 ? done(null, found) : done(Object.assign(new Error('x'), { code: 'ENOTFOUND' }), []),
      );
    },
  });
  t.teardown(() => outbound.close());
  const post = async (url: string) => {
    try {
      const answer = await outbound.post({ url, headers: {}, body: '{}', timeoutMs: 5_000 });
      return `answered ${answer.status} ${answer.body}`;
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return `${error.failure}: ${error.message}`;
    }
  };
  return { post, lookups };
}

t.test('an outbound call gives the proxy the checked address, never the name', async (t) => {
  const port = await listen(
    t,
    createServer((request, response) => response.end(request.headers.host)),
  );
  const proxy = await startConnectProxy(t, { hosts: { [PUBLIC]: port } });
  const { post, lookups } = await setUp(t, proxy, { 'scorer.example': [PUBLIC_V6, PUBLIC] });
  t.equal(await post('http://scorer.example/'), 'answered 200 scorer.example');
  t.equal(await post(`http://${PUBLIC}:8000/`), `answered 200 ${PUBLIC}:8000`);
  t.same(lookups, ['scorer.example']);
  t.same(
    proxy.requests.map(({ authority }) => authority),
    [`${PUBLIC}:80`, `${PUBLIC}:8000`],
  );
});

t.test(
  'outbound calls through a proxy refuse non-public addresses, by number, name or resolution',
  async (t) => {
    const proxy = await startConnectProxy(t);
    const { post } = await setUp(t, proxy, {
      'private.example': ['10.0.0.1'],
      'both.example': [PUBLIC, '169.254.169.254'],
      'loopback.example': ['::1'],
    });
    for (const host of [
      '127.0.0.1',
      '10.0.0.1',
      '169.254.169.254',
      '[::1]',
      '[::ffff:10.0.0.1]',
      'localhost',
      'gateway',
      'vault.internal',
      'private.example',
      'both.example',
      'loopback.example',
    ])
      t.match(await post(`http://${host}:8080/`), /^forbidden:/, host);
    t.same(proxy.requests, []);
  },
);

t.test(
  'through a proxy, a host on the allow list is sent by name, an allowed range by address',
  async (t) => {
    const port = await listen(
      t,
      createServer((_, response) => response.end()),
    );
    const proxy = await startConnectProxy(t, { hosts: { scorer: port, '10.0.0.7': port } });
    const { post, lookups } = await setUp(t, proxy, {}, { admitted: ['scorer', '10.0.0.0/8'] });
    t.equal(await post('http://scorer:8000/'), 'answered 200 ');
    t.equal(await post('http://10.0.0.7/'), 'answered 200 ');
    t.same(lookups, []);
    t.same(
      proxy.requests.map(({ authority }) => authority),
      ['scorer:8000', '10.0.0.7:80'],
    );
  },
);

t.test(
  'an outbound TLS call goes through the tunnel, with the certificate checked for the host name',
  async (t) => {
    const server = createTlsServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (_, response) =>
      response.end(),
    );
    const proxy = await startConnectProxy(t, { hosts: { [PUBLIC]: await listen(t, server) } });
    const names = { 'scorer.example': [PUBLIC], 'other.example': [PUBLIC] };
    const { post } = await setUp(t, proxy, names, { ca: CERTIFICATE });
    t.equal(await post('https://scorer.example/'), 'answered 200 ');
    t.match(await post('https://other.example/'), /^unreachable: .*ERR_TLS_CERT_ALTNAME_INVALID/);
    t.same(
      proxy.requests.map(({ authority }) => authority),
      [`${PUBLIC}:443`, `${PUBLIC}:443`],
    );
  },
);

t.test('an outbound call reports a failing proxy', async (t) => {
  const proxy = await startConnectProxy(t);
  const { post } = await setUp(t, proxy, { 'scorer.example': [PUBLIC] }, { connectMs: 1_000 });
  const url = 'http://scorer.example/';
  const because = 'unreachable: scorer.example could not be reached: the proxy';
  proxy.fault({ kind: 'refuse', status: 403 });
  t.equal(await post(url), `${because} refused the connection with status 403`);
  proxy.fault({ kind: 'refuse', status: 407 });
  t.equal(await post(url), `${because} asks for a user name and a password`);
  proxy.fault({ kind: 'cut', after: '' });
  t.equal(await post(url), `${because} closed the connection`);
  proxy.fault({ kind: 'hang' });
  t.equal(await post(url), 'timeout: scorer.example accepted no connection in time');
  t.equal(await post('http://nowhere.example/'), 'unreachable: nowhere.example could not be found');
});
