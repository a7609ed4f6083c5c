import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import t from 'tap';
import { checkSchema, connectPostgres, isStoreUnavailable } from '#platform/postgres/mod.ts';
import { certificateFiles, makeCertificate } from '../../../support/make-certificate.ts';
import { databaseFor } from '../../../support/world.ts';

const { url } = await databaseFor(t);
const server = makeCertificate('localhost');
const root = certificateFiles(server);
const elsewhere = makeCertificate('db.elsewhere.test');
const elsewhereRoot = certificateFiles(elsewhere);
const client = certificateFiles(makeCertificate('client'));
t.teardown(() => {
  for (const files of [root, elsewhereRoot, client]) files.remove();
});

/** PostgreSQL with TLS: what asks for it is answered as the server does, and passed on decrypted. */
async function startTlsServer(certificate: { cert: string; key: string }) {
  const { port, hostname } = new URL(url);
  const sockets = new Set<Socket>();
  const seen: { client: string | null }[] = [];
  const listening = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write('S');
      const secure = new TLSSocket(socket, {
        isServer: true,
        ...certificate,
        requestCert: true,
        rejectUnauthorized: false,
      });
      secure.on('error', () => {});
      secure.on('secure', () => {
        seen.push({ client: (secure.getPeerCertificate().subject?.CN as string | undefined) ?? null });
      });
      const upstream = connect(Number(port), hostname);
      upstream.on('error', () => {});
      sockets.add(upstream);
      secure.pipe(upstream).pipe(secure);
    });
  });
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    listening.close();
  });
  return { port: (listening.address() as AddressInfo).port, seen };
}

const own = await startTlsServer(server);
const wrong = await startTlsServer(elsewhere);

function addressAt(port: number, host: string, query: string): string {
  const address = Object.assign(new URL(url), { port: `${port}`, hostname: host });
  return `${address.href}?${query}`;
}

/** Returns the error of a first connection; null: there is none. */
async function errorAt(address: string): Promise<Error | null> {
  const sql = connectPostgres({ url: address, max: 1, applicationName: 'tls', statementTimeoutMs: 5_000 });
  try {
    await sql`select 1`;
    return null;
  } catch (error) {
    t.equal(isStoreUnavailable(error), true, 'a certificate says nothing about a statement');
    return error as Error;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

t.test('a server is checked by its root certificate and its name, as sslmode says', async (t) => {
  const ownRoot = `sslrootcert=${root.certFile}`;
  const otherRoot = `sslrootcert=${elsewhereRoot.certFile}`;
  const cases: [string, string, RegExp | null][] = [
    ['sslmode=require', addressAt(own.port, 'localhost', 'sslmode=require'), null],
    ['its root', addressAt(own.port, 'localhost', `sslmode=verify-full&${ownRoot}`), null],
    ['an unknown root', addressAt(own.port, 'localhost', 'sslmode=verify-full'), /self.signed/],
    ['another root', addressAt(own.port, 'localhost', `sslmode=verify-ca&${otherRoot}`), /self.signed/],
    [
      'require with another root',
      addressAt(own.port, 'localhost', `sslmode=require&${otherRoot}`),
      /self.signed/,
    ],
    ['another name', addressAt(wrong.port, 'localhost', `sslmode=verify-full&${otherRoot}`), /altnames/],
    ['a name that nobody checks', addressAt(wrong.port, 'localhost', `sslmode=verify-ca&${otherRoot}`), null],
    [
      'an address that is not in it',
      addressAt(own.port, '127.0.0.1', `sslmode=verify-full&${ownRoot}`),
      /IP: 127.0.0.1/,
    ],
  ];
  for (const [what, address, expected] of cases) {
    const error = await errorAt(address);
    if (expected === null) t.equal(error, null, what);
    else t.match(error?.message, expected, what);
  }
});

t.test('a client certificate is shown', async (t) => {
  own.seen.length = 0;
  const query = `sslmode=require&sslcert=${client.certFile}&sslkey=${client.keyFile}`;
  t.equal(await errorAt(addressAt(own.port, 'localhost', query)), null);
  t.same(own.seen, [{ client: 'client' }]);
});

t.test('a server without TLS is told from others when the address asks for it', async (t) => {
  const plain = Object.assign(new URL(url), { search: '?sslmode=require' }).href;
  const sql = connectPostgres({ url: plain, max: 1, applicationName: 'tls', statementTimeoutMs: 5_000 });
  t.teardown(() => sql.end({ timeout: 1 }));
  await t.rejects(checkSchema(sql), { message: /sslmode asks for TLS, which the server may not have$/ });
});

t.test('a server that is not trusted is named at the start', async (t) => {
  const address = addressAt(own.port, 'localhost', 'sslmode=verify-full');
  const sql = connectPostgres({ url: address, max: 1, applicationName: 'tls', statementTimeoutMs: 5_000 });
  t.teardown(() => sql.end({ timeout: 1 }));
  await t.rejects(checkSchema(sql), {
    message: `PostgreSQL at localhost:${own.port} (DATABASE_URL) cannot be used: self-signed certificate`,
  });
});
