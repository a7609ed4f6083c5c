/** Calls of which only the status and the beginning of the body are wanted. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { createOutbound, parseAllowList } from '#platform/outbound/mod.ts';

const BEGINNING = { maxBytes: 10, waitMs: 2_000 };

async function post(t: Test, answer: (response: ServerResponse) => void, timeoutMs = 5_000) {
  const server = createServer((_, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const allowed = parseAllowList(['127.0.0.1']);
  if ('badEntry' in allowed) throw new Error(allowed.badEntry);
  const outbound = createOutbound({ allow: allowed.allow });
  t.teardown(async () => {
    await outbound.close();
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return await outbound.post({ url, headers: {}, body: '{}', timeoutMs, beginning: BEGINNING });
}

t.test('of an answer without an end the first bytes are returned', async (t) => {
  const { status, body } = await post(t, (response) => {
    response.writeHead(200, { 'content-length': 2 ** 40 });
    const pour = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x')));
    };
    response.on('drain', pour).on('error', () => {});
    pour();
  });
  t.same([status, body.toString()], [200, 'xxxxxxxxxx']);
});

t.test('an answer whose body does not come has its status all the same, even at the deadline', async (t) => {
  const { status, body } = await post(
    t,
    (response) => {
      response.writeHead(201, { 'content-length': 20 }).write('slow');
    },
    1_000,
  );
  t.same([status, body.toString()], [201, 'slow']);
});

t.test('an answer that breaks off has its status all the same', async (t) => {
  const { status } = await post(t, (response) => {
    response.writeHead(202, { 'content-length': 20 }).write('short', () => response.destroy());
  });
  t.equal(status, 202);
});

t.test('a redirect is returned, and not followed', async (t) => {
  const { status, headers } = await post(t, (response) => {
    response.writeHead(307, { location: 'http://169.254.169.254/' }).end();
  });
  t.same([status, headers.location], [307, 'http://169.254.169.254/']);
});
