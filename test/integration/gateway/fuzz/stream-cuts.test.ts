/** Streams in the client's dialect: whatever chunks they come in, the client reads the same bytes and the record is the same. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { assembleStream } from '#core/chat/mod.ts';
import type { JsonObject } from '#core/json/mod.ts';
import { runs } from '../../../support/fuzz-runs.ts';
import { cutAt, cuts, type Relayed, relayed } from './relay-world.ts';
import { sameBytes } from './same-bytes.ts';
import { type StreamCase, streamCases } from './stream-cases.ts';

const CUTS_EACH = 4;

function relay(
  { surface, hidesUsage, bytes, ending }: StreamCase,
  places: readonly number[],
  hasTurns: boolean,
) {
  const chunks = cutAt(bytes, places);
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': 'r-1' };
  return relayed({ surface, translation: null, hidesUsage, status: 200, headers, chunks, ending, hasTurns });
}

/** The text that a client or a reader of the record would see. */
function textOf(completion: JsonObject): string {
  const [choice] = (completion.choices ?? []) as { text?: string; message?: { content: string | null } }[];
  const [output] = (completion.output ?? completion.content ?? []) as {
    text?: string;
    content?: { text: string }[];
  }[];
  return choice?.text ?? choice?.message?.content ?? output?.text ?? output?.content?.[0]?.text ?? '';
}

/** Up to the last whole event; endings.test.ts says what follows. */
function checkEvents({ expected, said }: StreamCase, { outcome, ...given }: Relayed): void {
  sameBytes(given.bytes.subarray(0, expected.bytes.length), expected.bytes);
  strictEqual(given.bytesBeforeRecord, expected.bytesBeforeRecord, 'what is held back');
  deepStrictEqual([outcome.status, outcome.truncated, outcome.stream], [200, !expected.isComplete, true]);
  sameBytes(outcome.responseBody, expected.recorded);
  const text = textOf(assembleStream(outcome.responseBody.toString('utf8')).completion);
  const all = said.texts.join('');
  if (expected.isComplete) strictEqual(text, all);
  else ok(all.startsWith(text));
}

t.test('10,000 ways to cut a stream of any dialect, notation and ending relay the same events', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      streamCases,
      fc.array(fc.tuple(cuts, fc.boolean()), { minLength: CUTS_EACH, maxLength: CUTS_EACH }),
      async (stream, ways) => {
        const whole = await relay(stream, [], false);
        checkEvents(stream, whole);
        for (const [places, hasTurns] of ways) {
          const cut = await relay(stream, places, hasTurns);
          deepStrictEqual(cut, whole);
        }
      },
    ),
    runs(t, 10_000 / CUTS_EACH),
  );
});
