/** Calls of the evaluators through the gateway: what is sent, and what comes of answers that are late, large or broken off. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { systemClock } from '#platform/process/clock.ts';
import { createGatewayClient } from '../../../evaluators/gateway-client.ts';

const server = createServer((request, response) => {
  const kind = request.headers['x-kind'];
  if (kind === 'silent') return;
  if (kind === 'broken') {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"half":');
    setImmediate(() => response.destroy());
    return;
  }
  response.writeHead(kind === 'busy' ? 429 : 200, { 'service-request-id': 'the-id', 'retry-after': '2' });
  if (kind === 'large') response.end('x'.repeat(2_000));
  else request.pipe(response);
});
await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
const client = createGatewayClient({
  gatewayUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  timeouts: { connectMs: 1_000, firstByteMs: 1_000, totalMs: 2_000 },
  clock: systemClock,
  maxAnswerBytes: 1_000,
});
t.teardown(async () => {
  await client.close();
  server.closeAllConnections();
  server.close();
});

const send = (kind: string, body = '{"a":1}', signal?: AbortSignal) =>
  client.send({ headers: { 'x-kind': kind }, body, signal });

t.test(
  'an answer comes with its status, its text, the id of its record and the wait that it asks for',
  async (t) => {
    t.match(await send('echo'), { kind: 'answer', status: 200, text: '{"a":1}', requestId: 'the-id' });
    t.match(await send('busy'), { kind: 'answer', status: 429, retryAfterMs: 2_000 });
  },
);

t.test('an answer that is too large, late or broken off is told apart, and none rejects', async (t) => {
  t.match(await send('large'), { kind: 'too_large', requestId: 'the-id' });
  t.match(await send('silent'), { kind: 'timeout' });
  t.match(await send('broken'), { kind: 'unreachable' });
  t.match(await send('echo', '{}', AbortSignal.abort()), { kind: 'aborted' });
});
