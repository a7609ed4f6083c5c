import { closeSync, openSync } from 'node:fs';
import t, { type Test } from 'tap';
import { request } from 'undici';
import { Reply, serve } from '#platform/http-server/mod.ts';
import type { ServeOptions } from '#platform/http-server/serve.ts';

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
  await t.rejects(start(t, 'first', { socketFd }), {
    message: new RegExp(`^Cannot listen on file descriptor ${socketFd}: .*$`),
  });
});
