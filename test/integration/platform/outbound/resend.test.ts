/** Which requests are sent a second time: those, and only those, that were lost on a kept connection. */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { createOutbound, OutboundError, parseAllowList } from '#platform/outbound/mod.ts';

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n';
const ANSWER = `${HEAD}ok`;

/** What the server does with the request under test, which comes after `before` others. */
type Break = {
  before: number;
  /** How much of the answer is sent before the connection breaks. */
  sentBytes: number;
  how: 'end' | 'reset';
  /** Whether the connection breaks when that request is sent again, too. */
  isLasting: boolean;
};

async function startServer({ sentBytes, how, isLasting }: Break) {
  /** Of each time that the request under test came: whether its connection had carried another before. */
  const tries: { wasKept: boolean }[] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    let answered = 0;
    let received = '';
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => {});
    socket.on('data', (bytes) => {
      received += bytes.toString();
      // The end of a body: head and body may come apart.
      if (!/(?:before \d|the call)$/.test(received)) return;
      const isTested = received.endsWith('the call');
      received = '';
      if (isTested) tries.push({ wasKept: answered > 0 });
      if (!isTested || (tries.length > 1 && !isLasting)) {
        answered += 1;
        socket.write(ANSWER);
        return;
      }
      const leave = () => (how === 'end' ? socket.end() : socket.resetAndDestroy());
      // What was written before a reset must be out before it.
      if (sentBytes === 0) leave();
      else socket.write(ANSWER.slice(0, sentBytes), () => setTimeout(leave, 20));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    for (const socket of open) socket.destroy();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, tries, stop };
}

const breaks: fc.Arbitrary<Break> = fc.record({
  before: fc.integer({ min: 0, max: 3 }),
  sentBytes: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: ANSWER.length - 1 })),
  how: fc.constantFrom('end' as const, 'reset' as const),
  isLasting: fc.boolean(),
});

t.test(
  'a request whose connection breaks is sent once more if the connection was kept and no byte of the answer came',
  async (t) => {
    const parsed = parseAllowList(['127.0.0.1']);
    if ('badEntry' in parsed) throw new Error(parsed.badEntry);
    let kept = 0;
    await fc.assert(
      fc.asyncProperty(breaks, async (given) => {
        const server = await startServer(given);
        const outbound = createOutbound({ allow: parsed.allow });
        const post = (body: string) =>
          outbound.post({ url: server.url, headers: {}, body, timeoutMs: 5_000 }).then(
            (answer) => answer.body.toString(),
            (error: unknown) => (error instanceof OutboundError ? error.failure : String(error)),
          );
        try {
          for (let call = 0; call < given.before; call += 1) {
            if ((await post(`before ${call}`)) !== 'ok') throw new Error('a call before the break failed');
            await setImmediate(); // undici reuses a connection one turn of the event loop later
          }
          const came = await post('the call');
          const wasKept = server.tries[0]!.wasKept;
          if (wasKept) kept += 1;
          const isResent = wasKept && given.sentBytes === 0;
          const wanted = isResent && !given.isLasting ? 'ok' : 'unreachable';
          if (came !== wanted) throw new Error(`it came to ${came}, not to ${wanted}`);
          const wantedTries = isResent ? 2 : 1;
          if (server.tries.length !== wantedTries || server.tries[1]?.wasKept === true)
            throw new Error(`it came ${JSON.stringify(server.tries)}, not ${wantedTries} times`);
        } finally {
          await outbound.close();
          server.stop();
        }
      }),
      {
        numRuns: 60,
        examples: (['end', 'reset'] as const).flatMap((how) =>
          [true, false].map((isLasting): [Break] => [{ before: 1, sentBytes: 0, how, isLasting }]),
        ),
      },
    );
    t.ok(kept > 0, 'some of them were sent on kept connections');
  },
);
