/** Streams so long that putting them together in one go would hold up every other call. */
import { deepStrictEqual } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { assembleInTurns, assembleStream } from '#core/chat/mod.ts';
import { inTurns } from '#platform/process/turns.ts';
import { runs } from '../../../support/fuzz-runs.ts';
import { loopDelayMs } from '../../../support/loop-delay.ts';
import { cutAt, cuts, endpointOf, relayed } from './relay-world.ts';
import { streamCases } from './stream-cases.ts';

t.test('a long stream in one piece is assembled in slices of 64 KiB', async (t) => {
  const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x' } }] })}\n\n`;
  const stream = Buffer.from(event.repeat(Math.ceil((4 * 1024 * 1024) / event.length)));
  let slices = 0;
  await assembleInTurns([stream], (slice) =>
    inTurns(() => {
      slices += 1;
      return slice();
    }),
  );
  t.equal(slices, Math.ceil(stream.length / (64 * 1024)));
});

t.test(
  'a stream assembled in turns equals the same stream assembled at once, wherever it is cut',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(streamCases, cuts, async ({ bytes }, cuts) => {
        deepStrictEqual(
          await assembleInTurns(cutAt(bytes, cuts), inTurns),
          assembleStream(bytes.toString('utf8')),
        );
      }),
      runs(t, 300),
    );
  },
);

const EVENT = `data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"hello hello"}}]}\n\n`;
const CHUNK = Buffer.from(EVENT.repeat(Math.ceil((64 * 1024) / EVENT.length)));
const CHUNKS = 500;
/** In one go it takes several times as long. */
const LONGEST_STALL_MS = 250;

t.test(
  'a stream of 32 MB that breaks off, or ends without an end mark, holds up no other call',
  async (t) => {
    for (const ending of ['end', 'cut'] as const) {
      const stallMs = await loopDelayMs(3, async () => {
        const given = await relayed({
          surface: endpointOf('chat'),
          translation: null,
          hidesUsage: false,
          status: 200,
          headers: { 'content-type': 'text/event-stream' },
          chunks: Array.from({ length: CHUNKS }, () => CHUNK),
          ending,
          hasTurns: true,
        });
        t.equal(given.outcome.truncated, true);
        t.equal(given.outcome.responseBody.length, CHUNKS * CHUNK.length);
        t.match(given.bytes.subarray(-200).toString(), /\{"error":\{.*\}\}\n\n$/);
      });
      t.ok(stallMs < LONGEST_STALL_MS, `${stallMs} ms`);
    }
  },
);
