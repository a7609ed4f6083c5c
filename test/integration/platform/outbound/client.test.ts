import type { LookupAddress } from 'node:dns';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { createOutbound, type Outbound, OutboundError, parseAllowList } from '#platform/outbound/mod.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from './certificate.ts';

type Options = Partial<Parameters<typeof createOutbound>[0]> & { admitted?: string[] };

/** An outbound whose names all resolve to what `addresses` says next; the last goes on for ever. */
function outboundOf(t: Test, options: Options & { addresses?: string[] } = {}) {
  const parsed = parseAllowList(options.admitted ?? []);
  if ('badEntry' in parsed) throw new Error(parsed.badEntry);
  const lookups: string[] = [];
  const outbound = createOutbound({
    allow: parsed.allow,
    connectMs: 2_000,
    lookup: (host, _options, done) => {
      const at = Math.min(lookups.length, (options.addresses?.length ?? 1) - 1);
      lookups.push(host);
      const found: LookupAddress[] = (options.addresses?.[at] ?? '127.0.0.1')
        .split(' ')
        .map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      setImmediate(() => done(null, found));
    },
    ...options,
  });
  t.teardown(() => outbound.close());
  return { outbound, lookups };
}

async function listen(t: Test, server: Server, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A server that counts its connections. */
async function serve(t: Test, listener: RequestListener, host?: string) {
  const server = createServer(listener);
  const seen = { connections: 0, requests: [] as string[] };
  server.on('connection', () => {
    seen.connections += 1;
  });
  server.on('request', (request) => seen.requests.push(request.url ?? ''));
  return { port: await listen(t, server, host), seen };
}

const say =
  (body: string, status = 200, headers = {}) =>
  (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(status, headers).end(body);
  };

async function failureOf(outbound: Outbound, url: string, timeoutMs = 2_000): Promise<string> {
  try {
    const answer = await outbound.post({ url, headers: {}, body: '{}', timeoutMs });
    return `answered ${answer.status}`;
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return `${error.failure}: ${error.message}`;
  }
}

t.test('an outbound call sends body and headers as given, and returns any status', async (t) => {
  const { port } = await serve(t, (request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const { method, url, headers } = request;
      response
        .writeHead(418, { 'retry-after': '7' })
        .end(JSON.stringify({ method, url, own: headers['x-own'], body }));
    });
  });
  const { outbound } = outboundOf(t, { admitted: ['127.0.0.0/8'] });
  const answer = await outbound.post({
    url: `http://127.0.0.1:${port}/a/b?c=d#e`,
    headers: { 'x-own': 'yes' },
    body: '{"ü":1}',
    timeoutMs: 2_000,
  });
  t.equal(answer.status, 418);
  t.equal(answer.headers['retry-after'], '7');
  t.same(JSON.parse(answer.body.toString()), {
    method: 'POST',
    url: '/a/b?c=d',
    own: 'yes',
    body: '{"ü":1}',
  });
});

t.test('outbound calls open no connection to non-public addresses, by number or name', async (t) => {
  const { port, seen } = await serve(t, say('{}'), '0.0.0.0');
  const { outbound } = outboundOf(t);
  for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '0.0.0.0', '[::ffff:127.0.0.1]', 'localhost']) {
    t.match(await failureOf(outbound, `http://${host}:${port}/`), /^forbidden:/, host);
  }
  for (const address of [
    '127.0.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '64:ff9b::7f00:1',
    '10.0.0.1',
    '169.254.169.254',
    '8.8.8.8 127.0.0.1',
    '127.0.0.1 8.8.8.8',
  ]) {
    const { outbound } = outboundOf(t, { addresses: [address] });
    t.match(await failureOf(outbound, `http://public.example:${port}/`), /^forbidden:/, `name of ${address}`);
  }
  t.match(await failureOf(outbound, 'file:///etc/passwd'), /^forbidden:/);
  t.match(await failureOf(outbound, 'gopher://127.0.0.1/_x'), /^forbidden:/);
  t.equal(seen.connections, 0);
});

t.test('a host name is checked at each outbound call, and connected to at the checked address', async (t) => {
  const reached: string[] = [];
  const { port, seen } = await serve(
    t,
    (request, response) => {
      reached.push(request.socket.localAddress ?? '');
      response.writeHead(200, { connection: 'close' }).end('{}');
    },
    '0.0.0.0',
  );
  const { outbound, lookups } = outboundOf(t, {
    admitted: ['127.0.0.2/32'],
    addresses: ['127.0.0.2', '127.0.0.1', '127.0.0.2'],
  });
  const url = `http://rebinding.example:${port}/`;
  t.equal(await failureOf(outbound, url), 'answered 200');
  t.match(await failureOf(outbound, url), /^forbidden:/);
  t.equal(await failureOf(outbound, url), 'answered 200');
  t.same(reached, ['127.0.0.2', '127.0.0.2']);
  t.equal(seen.connections, 2);
  t.same(
    lookups,
    Array(3).fill('rebinding.example'),
    'one look-up a connection: nothing between check and use',
  );
});

t.test('a host on the allow list may have any address', async (t) => {
  const { port } = await serve(t, say('{}'));
  const { outbound } = outboundOf(t, { admitted: ['scorer'] });
  t.equal(await failureOf(outbound, `http://scorer:${port}/`), 'answered 200');
  t.match(await failureOf(outbound, `http://other:${port}/`), /^forbidden:/);
  t.match(await failureOf(outbound, `http://other.example:${port}/`), /^forbidden:/);
});

t.test('outbound calls follow no redirects', async (t) => {
  const inner = await serve(t, say('secret'));
  const { outbound } = outboundOf(t, { admitted: ['127.0.0.0/8', 'localhost'] });
  const targets = [
    'http://169.254.169.254/latest/meta-data/',
    `http://localhost:${inner.port}/`,
    `http://127.0.0.1:${inner.port}/`,
    'https://example.com/',
    'file:///etc/passwd',
  ];
  for (const status of [300, 301, 302, 303, 304, 307, 308]) {
    for (const location of targets) {
      const { port } = await serve(t, say('', status, { location }));
      t.match(
        await failureOf(outbound, `http://127.0.0.1:${port}/`),
        new RegExp(`^redirect: .*\\(${status}\\)`),
      );
    }
  }
  t.equal(inner.seen.connections, 0);
});

t.test('an outbound call without a complete response fails at its deadline', async (t) => {
  const { outbound } = outboundOf(t, { admitted: ['127.0.0.0/8'] });
  const mute = await listen(
    t,
    createTcpServer(() => {}),
  );
  const slow = await serve(t, (_, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  });
  const headers = await listen(
    t,
    createTcpServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('x: y\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    }),
  );
  const informed = await listen(
    t,
    createTcpServer((socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    }),
  );
  for (const port of [mute, slow.port, headers, informed]) {
    const began = performance.now();
    t.equal(
      await failureOf(outbound, `http://127.0.0.1:${port}/`, 300),
      'timeout: 127.0.0.1 did not answer within 300 ms',
    );
    const tookMs = performance.now() - began;
    t.ok(tookMs > 250 && tookMs < 10_000, `took ${Math.round(tookMs)} ms`);
  }
});

t.test('an outbound call whose name is not resolved in time fails at its deadline', async (t) => {
  const { outbound } = outboundOf(t, { lookup: () => {} });
  t.match(await failureOf(outbound, 'http://slow.example/', 300), /^timeout:/);
});

t.test('an outbound call can be aborted by its caller', async (t) => {
  const port = await listen(
    t,
    createTcpServer(() => {}),
  );
  const { outbound } = outboundOf(t, { admitted: ['127.0.0.0/8'] });
  const stop = new AbortController();
  const call = outbound.post({
    url: `http://127.0.0.1:${port}/`,
    headers: {},
    body: '',
    timeoutMs: 5_000,
    signal: stop.signal,
  });
  setTimeout(() => stop.abort(new Error('shutting down')), 50);
  await t.rejects(call, { message: 'shutting down' });
  await t.rejects(
    outbound.post({
      url: `http://127.0.0.1:${port}/`,
      headers: {},
      body: '',
      timeoutMs: 5_000,
      signal: stop.signal,
    }),
    { message: 'shutting down' },
  );
});

t.test('an outbound response is read up to 1 MiB, with or without a content-length', async (t) => {
  const { outbound } = outboundOf(t, { admitted: ['127.0.0.0/8'] });
  const exact = await serve(t, say('x'.repeat(1024 * 1024)));
  t.equal(await failureOf(outbound, `http://127.0.0.1:${exact.port}/`), 'answered 200');
  const told = await serve(t, say('x'.repeat(1024 * 1024 + 1)));
  t.match(await failureOf(outbound, `http://127.0.0.1:${told.port}/`), /^too_large: .*1048576 bytes/);
  let sent = 0;
  const endless = await serve(t, (_, response) => {
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536))) sent += 65_536;
    };
    response.on('drain', more);
    more();
  });
  t.match(await failureOf(outbound, `http://127.0.0.1:${endless.port}/`), /^too_large:/);
  t.ok(sent < 64 * 1024 * 1024, `${sent} bytes were sent`);
  const headers = await serve(t, say('', 200, { 'x-long': 'x'.repeat(100_000) }));
  t.match(await failureOf(outbound, `http://127.0.0.1:${headers.port}/`), /^too_large:/);
});

t.test('an outbound call reports broken connections and incomplete responses', async (t) => {
  const { outbound } = outboundOf(t, { admitted: ['127.0.0.0/8'] });
  const cases: [string, RegExp][] = [
    ['', /^unreachable: .*closed the connection/],
    ['HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{}', /^unreachable: .*closed the connection/],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab', /^unreachable: .*closed the connection/],
    ['SSH-2.0-OpenSSH_9.9\r\n', /^unreachable:/],
  ];
  for (const [bytes, expected] of cases) {
    const port = await listen(
      t,
      createTcpServer((socket) => socket.once('data', () => socket.end(bytes))),
    );
    t.match(await failureOf(outbound, `http://127.0.0.1:${port}/`), expected, JSON.stringify(bytes));
  }
  const gone = createTcpServer();
  const port = await listen(t, gone);
  await new Promise((resolve) => gone.close(resolve));
  t.match(
    await failureOf(outbound, `http://127.0.0.1:${port}/`),
    /^unreachable: 127.0.0.1 could not be reached/,
  );
  const unknown = outboundOf(t, {
    lookup: (_host, _options, done) => done(Object.assign(new Error('x'), { code: 'ENOTFOUND' }), []),
  });
  t.equal(
    await failureOf(unknown.outbound, 'http://nowhere.example/'),
    'unreachable: nowhere.example could not be found',
  );
});

t.test(
  'an outbound TLS call requires a trusted certificate for the host name, and sends that name',
  async (t) => {
    const server = createTlsServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, say('{}'));
    const port = await listen(t, server);
    const admitted = ['127.0.0.0/8'];
    const untrusting = outboundOf(t, { admitted });
    t.match(
      await failureOf(untrusting.outbound, `https://scorer.example:${port}/`),
      /^unreachable: scorer.example could not be trusted: TLS failed \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
    );
    const trusting = outboundOf(t, { admitted, ca: CERTIFICATE });
    t.equal(await failureOf(trusting.outbound, `https://scorer.example:${port}/`), 'answered 200');
    t.match(
      await failureOf(trusting.outbound, `https://other.example:${port}/`),
      /^unreachable: other.example could not be trusted: TLS failed \(ERR_TLS_CERT_ALTNAME_INVALID\)/,
    );
    const plain = await serve(t, say('{}'));
    t.match(
      await failureOf(trusting.outbound, `https://scorer.example:${plain.port}/`),
      /^unreachable: .*TLS failed/,
    );
  },
);
