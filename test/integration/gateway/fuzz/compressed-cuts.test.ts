/** Compressed streams: unpacked on their way, whatever chunks the compressed bytes come in. */
import { deepStrictEqual, strictEqual } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { TRANSLATIONS } from '../../../../gateway/translations/mod.ts';
import { runs } from '../../../support/fuzz-runs.ts';
import { codings, packed } from './codings.ts';
import { cutAt, cuts, endpointOf, relayed } from './relay-world.ts';
import { sameBytes } from './same-bytes.ts';
import { streamCases } from './stream-cases.ts';
import { messages, said } from './told-streams.ts';
import { bytesOfFrames, styles, writeStream } from './written-streams.ts';

const whole = streamCases.filter(({ ending }) => ending === 'end');

t.test('a compressed stream is relayed like the same stream uncompressed, wherever it is cut', async (t) => {
  await fc.assert(
    fc.asyncProperty(whole, codings, cuts, async (stream, coding, cuts) => {
      const { surface, hidesUsage, bytes, expected } = stream;
      const given = await relayed({
        surface,
        translation: null,
        hidesUsage,
        status: 200,
        headers: { 'content-type': 'text/event-stream', 'content-encoding': coding },
        chunks: cutAt(packed(coding, bytes), cuts),
        ending: 'end',
        hasTurns: false,
      });
      const { length } = expected.bytes;
      sameBytes(given.bytes.subarray(0, length), expected.bytes);
      if (expected.isComplete) sameBytes(given.bytes.subarray(length), expected.rest);
      strictEqual(given.headers.includes('content-encoding'), false);
      sameBytes(given.outcome.responseBody, expected.recorded);
      strictEqual(given.outcome.contentEncoding, null);
      strictEqual(given.outcome.truncated, !expected.isComplete);
    }),
    runs(t, 1_000),
  );
});

t.test(
  'a compressed stream of the other dialect is translated like the same stream uncompressed',
  async (t) => {
    const surface = endpointOf('chat');
    const translation = TRANSLATIONS['chat by messages'];
    await fc.assert(
      fc.asyncProperty(said, styles, codings, cuts, async (said, styles, coding, cuts) => {
        const bytes = bytesOfFrames(writeStream(messages(said), styles));
        const type = { 'content-type': 'text/event-stream' };
        const relay = (chunks: Buffer[], headers: Record<string, string>) =>
          relayed({
            surface,
            translation,
            hidesUsage: false,
            status: 200,
            headers,
            chunks,
            ending: 'end',
            hasTurns: false,
          });
        const wanted = await relay([bytes], type);
        const small = packed(coding, bytes);
        const given = await relay(cutAt(small, cuts), { ...type, 'content-encoding': coding });
        // A decoder takes its time: what comes when differs, and nothing else.
        deepStrictEqual({ ...given, bytesBeforeRecord: 0 }, { ...wanted, bytesBeforeRecord: 0 });
      }),
      runs(t, 500),
    );
  },
);
