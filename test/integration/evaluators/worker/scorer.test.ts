/** The threads of the scorer, over real sockets. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { createScorer } from '../../../../evaluators/worker/mod.ts';
import { verdict } from '../../../support/judge/scripted-judge.ts';

const IDLE_MS = 100;
const ROUNDS = 5;
const BODY = verdict(true);
const ANSWER = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;

/** A server that responds to every request, closes connections idle for 100 ms, and counts the requests lost by that. */
async function startImpatientGateway(t: Test) {
  const seen = { connections: 0, sentTooLate: 0 };
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    seen.connections += 1;
    open.add(socket);
    let isClosing = false;
    socket.on('close', () => open.delete(socket)).on('error', () => {});
    socket.on('end', () => socket.destroy());
    socket.on('data', () => {
      if (isClosing) {
        seen.sentTooLate += 1;
        socket.resetAndDestroy();
        return;
      }
      socket.write(ANSWER);
      setTimeout(() => {
        isClosing = true;
        socket.end();
      }, IDLE_MS);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, open };
}

const judgeJob = {
  organizationId: 'org',
  evaluator: { id: 'evaluator', version: 1, name: 'Politeness' },
  definition: { scoringType: 'LLM-BOOLEAN', template: { model: 'gpt-4o', prompt: 'Polite?' } } as const,
  items: [
    {
      evaluationId: '1',
      probe: null,
      call: {
        requestId: 'request',
        requestText: '{"messages":[{"role":"user","content":"hello"}]}',
        responseText: '{"choices":[{"message":{"role":"assistant","content":"hi"}}]}',
        inputs: null,
        status: 200,
        truncated: false,
        errorCode: null,
        properties: null,
        model: null,
      },
    },
  ],
};

t.test('an idle thread notices that the gateway closed its connection', async (t) => {
  const gateway = await startImpatientGateway(t);
  const scorer = createScorer({
    thread: {
      gatewayUrl: gateway.url,
      internalSecret: 'secret',
      outboundAllow: [],
      judgeTimeouts: { connectMs: 5_000, firstByteMs: 5_000, totalMs: 5_000 },
    },
    // No evaluation here is in Python.
    sandbox: {} as never,
    concurrency: 1,
    onDefect: (error) => t.fail(String(error)),
  });
  t.teardown(() => scorer.close());
  for (let round = 1; round <= ROUNDS; round += 1) {
    const [scored] = await scorer.score(judgeJob);
    t.match(scored, { outcome: { state: 'completed', score: 1 }, use: { calls: 1 } }, `round ${round}`);
    // The connection is gone only once the thread has read its end and closed its own side.
    const patience = AbortSignal.timeout(5_000);
    for (const socket of [...gateway.open]) await once(socket, 'close', { signal: patience });
  }
  t.equal(gateway.seen.sentTooLate, 0, 'no call was sent on a connection that was closed');
  t.equal(gateway.seen.connections, ROUNDS);
});
