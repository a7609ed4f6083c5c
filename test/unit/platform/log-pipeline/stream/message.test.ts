import fc from 'fast-check';
import t from 'tap';
import { packMessages } from '#platform/log-pipeline/forward/pack.ts';
import type { OutboxEntry } from '#platform/log-pipeline/outbox/mod.ts';
import {
  decodeMessage,
  encodeDamage,
  encodeEntries,
  encodeParts,
  joinParts,
  MalformedMessageError,
} from '#platform/log-pipeline/stream/mod.ts';

const OUTBOX = '01K00000000000000000000000';

const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));
const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const placed: fc.Arbitrary<OutboxEntry> = fc.record({
  head: bytes(50),
  requestBody: bytes(3_000),
  responseBody: bytes(3_000),
  position: fc.record({ segment: u32, offset: u32 }),
});

/** Returns the entries that a consumer has in the end, however they were cut. */
function unpack(payloads: Iterable<Buffer>): OutboxEntry[] {
  const entries: OutboxEntry[] = [];
  let parts: Buffer[] = [];
  for (const payload of payloads) {
    const message = decodeMessage(payload);
    if (message.kind === 'entries') entries.push(...message.entries);
    else if (message.kind === 'part') {
      parts[message.index] = message.bytes;
      if (parts.length < message.count) continue;
      entries.push({ ...joinParts(parts), position: message.position });
      parts = [];
    }
  }
  return entries;
}

t.test('packed entries arrive whole and in order, whatever the size of a message', async () => {
  fc.assert(
    fc.property(
      fc.array(placed, { maxLength: 20 }),
      fc.integer({ min: 200, max: 9_000 }),
      (entries, maxBytes) => {
        const messages = [...packMessages(OUTBOX, { entries, damage: null }, maxBytes)];
        t.ok(messages.every(({ payload }) => payload.length <= maxBytes));
        t.equal(new Set(messages.map(({ id }) => id)).size >= Math.min(1, messages.length), true);
        t.same(unpack(messages.map(({ payload }) => payload)), entries);
      },
    ),
    { numRuns: 300 },
  );
});

t.test('many small entries share one message of the log stream', async (t) => {
  const entry = (offset: number): OutboxEntry => ({
    head: Buffer.alloc(300),
    requestBody: Buffer.alloc(1_000),
    responseBody: Buffer.alloc(1_000),
    position: { segment: 1, offset },
  });
  const entries = Array.from({ length: 1_000 }, (_, index) => entry(index * 2_400));
  const messages = [...packMessages(OUTBOX, { entries, damage: null }, 1024 * 1024)];
  t.equal(messages.length, 9, 'some 2.3 MB in messages of up to 256 KiB');
});

t.test(
  'a damaged stretch of an outbox travels with its position and its reason, cut to what fits into a message',
  async (t) => {
    const damage = {
      position: { segment: 3, offset: 99 },
      reason: 'checksum mismatch',
      bytes: Buffer.alloc(500, 7),
    };
    const payload = encodeDamage(OUTBOX, damage, 300);
    t.ok(payload.length <= 300);
    const message = decodeMessage(payload);
    t.match(message, { kind: 'damage', outboxId: OUTBOX, position: damage.position, reason: damage.reason });
  },
);

t.test('bytes that are not a message of the log stream are refused and never misread', async (t) => {
  fc.assert(
    fc.property(bytes(200), (noise) => {
      try {
        decodeMessage(noise);
      } catch (error) {
        t.ok(error instanceof MalformedMessageError);
      }
    }),
  );
  const whole = encodeEntries(OUTBOX, [
    {
      head: Buffer.from('{}'),
      requestBody: Buffer.from('a'),
      responseBody: Buffer.from('b'),
      position: { segment: 1, offset: 0 },
    },
  ]);
  for (let length = 28; length < whole.length; length += 1) {
    t.throws(() => decodeMessage(whole.subarray(0, length)), { name: 'MalformedMessageError' });
  }
  const [first] = [
    ...encodeParts(
      OUTBOX,
      {
        head: Buffer.alloc(9),
        requestBody: Buffer.alloc(900),
        responseBody: Buffer.alloc(9),
        position: { segment: 1, offset: 0 },
      },
      300,
    ),
  ];
  const part = decodeMessage(first!);
  t.equal(part.kind, 'part');
  if (part.kind === 'part') t.throws(() => joinParts([part.bytes]), { name: 'MalformedMessageError' });
});
