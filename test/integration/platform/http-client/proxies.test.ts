/** Calls to providers through a proxy, over real connections. */
import { once } from 'node:events';
import tls from 'node:tls';
import t, { type Test } from 'tap';
import { type HttpProxy, parseProxyAddress } from '#platform/proxy/mod.ts';
import {
  type ConnectProxyOptions,
  type ProxyFault,
  startConnectProxy,
} from '../../../support/connect-proxy.ts';
import { freePort } from '../../../support/free-port.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from './certificate.ts';
import { reply, startCalls, startWire, type WireOptions } from './wire.ts';

const SECRET = 'ada:s3cret';

/** A provider, a proxy, and calls that all go through it. */
async function setUp(
  t: Test,
  {
    userinfo = '',
    wire: wireOptions = {},
    timeouts = {},
    ...options
  }: ConnectProxyOptions & { userinfo?: string; wire?: WireOptions; timeouts?: { connectMs?: number } } = {},
) {
  const wire = await startWire(t, { onRequest: (socket) => socket.write(reply('yes')), ...wireOptions });
  const proxy = await startConnectProxy(t, options);
  const scheme = options.tls === undefined ? 'http' : 'https';
  const address = parseProxyAddress(`${scheme}://${userinfo}localhost:${proxy.port}`)!;
  const calls = startCalls(t, { proxyFor: () => address, timeouts });
  return { wire, proxy, ...calls };
}

/** Trusts the certificate of these tests; false: this runtime cannot be given certificates. */
function trustCertificate(t: Test): boolean {
  if (tls.setDefaultCACertificates === undefined) return false;
  const before = tls.getCACertificates('default');
  t.teardown(() => tls.setDefaultCACertificates(before));
  tls.setDefaultCACertificates([...before, CERTIFICATE]);
  return true;
}

t.test('an http provider is called through a tunnel that the next call reuses', async (t) => {
  const { wire, proxy, call } = await setUp(t);
  t.match(await call(wire.origin), { status: 200, body: 'yes', error: null, events: ['start', 'end'] });
  t.match(await call(wire.origin), { body: 'yes', error: null });
  t.same(proxy.requests, [{ authority: new URL(wire.origin).host, authorization: null }]);
  t.same(proxy.others, []);
  t.equal(wire.sockets.length, 1);
  t.match(wire.requests[0], /^POST \/v1\/chat\/completions HTTP\/1\.1\r\nhost: 127/);
});

t.test('host names are sent to the proxy unresolved, with the default port of the scheme', async (t) => {
  const { wire, proxy, begin } = await setUp(t, { hosts: {} });
  proxy.fault({ kind: 'refuse', status: 403 });
  for (const origin of ['http://provider.test', 'https://provider.test', 'https://[2001:db8::1]:8443'])
    await begin(origin).whole;
  t.same(
    proxy.requests.map(({ authority }) => authority),
    ['provider.test:80', 'provider.test:443', '[2001:db8::1]:8443'],
  );
  t.equal(wire.sockets.length, 0);
});

t.test('an https provider is verified by its own certificate, through an http or https proxy', async (t) => {
  const isTrusting = trustCertificate(t);
  for (const options of [{}, { tls: { cert: CERTIFICATE, key: CERTIFICATE_KEY } }]) {
    const { wire, proxy, call } = await setUp(t, { wire: { isTls: true }, ...options });
    if (!isTrusting) return t.comment('this runtime cannot be told of certificates');
    t.match(await call(wire.origin), { status: 200, body: 'yes', error: null });
    t.match(await call(wire.origin), { status: 200, body: 'yes', error: null });
    t.equal(proxy.requests.length, 1);
    const elsewhere = await call(wire.origin.replace('localhost', '127.0.0.1'));
    t.match(elsewhere.error, {
      code: 'provider_unreachable',
      message: 'The provider WIRE could not be reached',
      detail: /ALTNAME/,
    });
  }
});

t.test('an https proxy with an untrusted certificate is sent no credentials', async (t) => {
  const { wire, proxy, call } = await setUp(t, {
    userinfo: `${SECRET}@`,
    tls: { cert: CERTIFICATE, key: CERTIFICATE_KEY },
  });
  t.match((await call(wire.origin)).error, {
    code: 'provider_unreachable',
    message: 'The provider WIRE could not be reached: the proxy could not be reached',
    detail: /SELF_SIGNED/,
  });
  t.equal(proxy.requests.length, 0);
});

t.test("a proxy's credentials are sent to the proxy, and never to the provider", async (t) => {
  const { wire, proxy, call } = await setUp(t, { userinfo: `${SECRET}@`, credentials: SECRET });
  t.match(await call(wire.origin), { body: 'yes', error: null });
  t.same(proxy.requests[0]?.authorization, `Basic ${Buffer.from(SECRET).toString('base64')}`);
  t.notMatch(wire.requests[0], /proxy|authorization/i);
});

for (const { what, userinfo, message } of [
  { what: 'asks for credentials', userinfo: '', message: 'asks for a user name and a password' },
  { what: 'refuses credentials', userinfo: 'ada:wr0ng@', message: 'refused the user name and the password' },
]) {
  t.test(`a proxy that ${what} is reported, without the credentials`, async (t) => {
    const { wire, call } = await setUp(t, { userinfo, credentials: SECRET });
    const { error, events } = await call(wire.origin);
    t.match(error, {
      code: 'provider_unreachable',
      message: `The provider WIRE could not be reached: the proxy ${message}`,
    });
    t.same(events, ['failure']);
    const told = JSON.stringify([error?.message, error?.detail, String(error?.cause)]);
    for (const secret of ['wr0ng', Buffer.from('ada:wr0ng').toString('base64')])
      t.notOk(told.includes(secret));
    t.equal(wire.sockets.length, 0);
  });
}

const CLOSED = 'the proxy closed the connection';
const NO_ANSWER = 'the proxy sent something else than an answer to CONNECT';
const FAULTS: [fault: ProxyFault, message: string][] = [
  [{ kind: 'refuse', status: 403 }, 'the proxy refused the connection with status 403'],
  [{ kind: 'refuse', status: 502 }, 'the proxy refused the connection with status 502'],
  [{ kind: 'refuse', status: 302 }, 'the proxy refused the connection with status 302'],
  [{ kind: 'cut', after: '' }, CLOSED],
  [{ kind: 'cut', after: 'HTTP/1.1 200 OK\r\n' }, CLOSED],
  [{ kind: 'bytes', bytes: 'SSH-2.0-OpenSSH_9.2\r\n\r\n' }, NO_ANSWER],
  [{ kind: 'bytes', bytes: 'HTTP/2 200\r\n\r\n' }, NO_ANSWER],
  [{ kind: 'bytes', bytes: 'HTTP/1.1 100 Continue\r\n\r\n' }, NO_ANSWER],
  [{ kind: 'bytes', bytes: `HTTP/1.1 200 OK\r\n\r\n${reply('whose?')}` }, NO_ANSWER],
  [{ kind: 'bytes', bytes: `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(20_000)}` }, NO_ANSWER],
];

for (const [fault, message] of FAULTS) {
  t.test(
    `a proxy that fails with ${JSON.stringify(fault).slice(0, 70)} is reported as a proxy failure`,
    async (t) => {
      const { wire, proxy, call } = await setUp(t);
      proxy.fault(fault);
      t.match(await call(wire.origin), {
        events: ['failure'],
        error: {
          code: 'provider_unreachable',
          message: `The provider WIRE could not be reached: ${message}`,
        },
      });
      proxy.fault(null);
      t.match(await call(wire.origin), { body: 'yes', error: null }, 'the next call is as good as ever');
    },
  );
}

t.test('a proxy response that arrives byte by byte is parsed', async (t) => {
  const bytes = 'HTTP/1.0 200 Connection established\r\nvia: slow\r\n\r\n';
  const proxy = await startWire(t, {
    onConnection: (socket) => {
      socket.setNoDelay(true);
      let sent = 0;
      const timer = setInterval(() => {
        if (sent < bytes.length) socket.write(bytes[sent]!);
        else clearInterval(timer);
        sent += 1;
      }, 1);
    },
    onRequest: (socket, place) => place > 0 && socket.write(reply('slow')),
  });
  const address: HttpProxy = parseProxyAddress(proxy.origin)!;
  const { call } = startCalls(t, { proxyFor: () => address });
  t.match(await call('http://provider.test'), { body: 'slow', error: null });
});

t.test('an unreachable proxy fails the call with the cause', async (t) => {
  const address = parseProxyAddress(`http://${SECRET}@127.0.0.1:${await freePort()}`)!;
  const { error } = await startCalls(t, { proxyFor: () => address }).call('http://provider.test');
  t.match(error, {
    code: 'provider_unreachable',
    message: 'The provider WIRE could not be reached: the proxy could not be reached',
    detail: /ECONNREFUSED/,
  });
  t.notMatch(`${error?.detail} ${error?.stack}`, /s3cret/);
});

t.test('a proxy must open a tunnel within the connect timeout', async (t) => {
  const { wire, proxy, begin } = await setUp(t, { timeouts: { connectMs: 150 } });
  proxy.fault({ kind: 'hang' });
  t.match((await begin(wire.origin).whole).error, {
    code: 'provider_timeout',
    message: 'The proxy opened no connection to the provider WIRE within 150 ms',
  });
});

t.test('an aborted call closes its connection to a silent proxy', async (t) => {
  const proxy = await startWire(t, {});
  const address = parseProxyAddress(proxy.origin)!;
  const { begin } = startCalls(t, { proxyFor: () => address });
  const { abort, heard } = begin('http://provider.test');
  while (proxy.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  abort();
  await once(proxy.sockets[0]!, 'close');
  t.same(heard.events, []);
});

t.test('a cut tunnel fails the call as a connection that the provider closed', async (t) => {
  const { wire, proxy, call } = await setUp(t);
  proxy.fault({ kind: 'cut-tunnel' });
  t.match((await call(wire.origin)).error, {
    code: 'provider_unreachable',
    message: 'The provider WIRE closed the connection before its answer was whole',
  });
});
