import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { request } from 'undici';
import { Reply, serve } from '#platform/http-server/mod.ts';
import type { ServeOptions } from '#platform/http-server/serve.ts';
import { holdSocket } from '../../../../supervisor/held-socket.ts';
import { freePort } from '../../../support/free-port.ts';

/** A server on loopback that answers with its name. */
async function start(t: Test, name: string, options: Partial<ServeOptions> = {}) {
  const server = await serve({ host: '127.0.0.1', port: 0, fetch: () => new Reply(name), ...options });
  t.teardown(() => server.close(0));
  return server;
}

t.test('listening on a taken port fails with one sentence', async (t) => {
  const { port } = await start(t, 'first');
  await t.rejects(start(t, 'second', { port }), {
    message: `Cannot listen on 127.0.0.1:${port}: the port is taken by another process`,
  });
});

t.test('two servers that share a port both serve it', async (t) => {
  const { port, url } = await start(t, 'first', { sharePort: true });
  await start(t, 'second', { port, sharePort: true });
  const names = new Set<string>();
  for (let call = 0; call < 100 && names.size < 2; call += 1) {
    const { body } = await request(url, { reset: true });
    names.add(await body.text());
  }
  t.same([...names].sort(), ['first', 'second']);
});

t.test('a shared port and an unshared one exclude each other', async (t) => {
  const shared = await start(t, 'first', { sharePort: true });
  await t.rejects(start(t, 'second', { port: shared.port }), {
    message: `Cannot listen on 127.0.0.1:${shared.port}: the port is taken by another process`,
  });
  const own = await start(t, 'third');
  await t.rejects(start(t, 'fourth', { port: own.port, sharePort: true }), {
    message: `Cannot listen on 127.0.0.1:${own.port}: a process that does not share it has the port`,
  });
});

t.test('listening on a file descriptor that is not a socket fails with one sentence', async (t) => {
  const socketFd = openSync('/dev/null', 'r');
  t.teardown(() => closeSync(socketFd));
  await t.rejects(start(t, 'first', { socketFds: [socketFd] }), {
    message: new RegExp(`^Cannot listen on file descriptor ${socketFd}: .*$`),
  });
});

/** Accepts what waits behind the end of a busy turn, and prints how many connections it has after each turn from then on. */
const BUSY_SERVER = `
  const [, module, busyUntil, wanted] = process.argv;
  const { existsSync } = await import('node:fs');
  const { serve, Reply } = await import(module);
  const socketFds = [3, 4, 5, 6];
  const { connections } = await serve({ host: '127.0.0.1', port: 0, socketFds, fetch: () => new Reply('') });
  process.stderr.write('serving');
  while (!existsSync(busyUntil));
  const counts = [];
  const look = () => {
    if (connections.accepted > (counts.at(-1) ?? 0)) counts.push(connections.accepted);
    if (connections.accepted < Number(wanted)) return setImmediate(look);
    console.log(JSON.stringify(counts));
    process.exit();
  };
  setImmediate(look);
`;

t.test(
  'of a socket given several times, as many connections are accepted in one turn of the event loop',
  async (t) => {
    const port = await freePort();
    const socket = (await holdSocket('127.0.0.1', port))!;
    t.teardown(() => socket.release());
    const busyUntil = join(t.testdir(), 'go-on');
    const module = new URL('../../../../platform/http-server/mod.ts', import.meta.url).href;
    const program = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', BUSY_SERVER];
    const child = spawn(process.execPath, [...program, module, busyUntil, '12'], {
      stdio: ['ignore', 'pipe', 'pipe', ...Array.from({ length: 4 }, () => socket.fd)],
    });
    t.teardown(() => child.kill('SIGKILL'));
    const counts = text(child.stdout!);
    await once(child.stderr!, 'data');
    // The kernel connects them while the server is busy.
    for (let place = 0; place < 12; place += 1) {
      const client = connect({ host: '127.0.0.1', port });
      client.on('error', () => {});
      t.teardown(() => client.destroy());
      await once(client, 'connect');
    }
    writeFileSync(busyUntil, '');
    t.same(JSON.parse(await counts), [4, 8, 12]);
  },
);
