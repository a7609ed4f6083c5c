/**
 * A log entry outlives the build that wrote it: segments on disk, messages in NATS and parts of large entries in Postgres
 * are read by the next build, and during an upgrade by the one before. The bytes below are those of the first build.
 */
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import {
  encodedSize,
  type LogEntry,
  lengthsSize,
  readEntry,
  writeEntry,
} from '#core/contracts/log-entry-codec.ts';
import { decodeFrame, encodeFrame, type Frame } from '#platform/log-pipeline/outbox/frame.ts';
import {
  decodeMessage,
  encodeDamage,
  encodeEntries,
  encodeParts,
  joinParts,
} from '#platform/log-pipeline/stream/mod.ts';

const OUTBOX = '01K00000000000000000000000';
const OUTBOX_HEX = Buffer.from(OUTBOX, 'latin1').toString('hex');
const NOTHING = Buffer.alloc(0);
const ENTRY: LogEntry = {
  head: Buffer.from('{"v":1}'),
  requestBody: Buffer.from('{"model":"m"}'),
  responseBody: Buffer.from('data: [DONE]\n\n'),
};
const PARTS_HEX = '7b2276223a317d7b226d6f64656c223a226d227d646174613a205b444f4e455d0a0a';
const EMPTY: LogEntry = { head: NOTHING, requestBody: NOTHING, responseBody: NOTHING };

const FRAMES: { frame: Frame; hex: string }[] = [
  {
    frame: { kind: 'finished', call: 0x0102030405, entry: ENTRY },
    hex: `32000000211efd680100050403020100070000000d000000${PARTS_HEX}`,
  },
  {
    frame: { kind: 'begun', call: 7, entry: { ...ENTRY, responseBody: NOTHING } },
    hex: '240000000dc829400200070000000000070000000d0000007b2276223a317d7b226d6f64656c223a226d227d',
  },
  { frame: { kind: 'void', call: 7, entry: EMPTY }, hex: '100000006755bea003000700000000000000000000000000' },
];

for (const { frame, hex } of FRAMES) {
  t.test(`a ${frame.kind} frame of the first build is read, and written byte for byte`, async (t) => {
    const bytes = Buffer.from(hex, 'hex');
    t.same(decodeFrame(bytes, 0), { state: 'whole', frame, bytes: bytes.length });
    t.equal(Buffer.concat(encodeFrame(frame).buffers).toString('hex'), hex);
  });
}

const LARGE = { ...ENTRY, requestBody: Buffer.alloc(10_000, 'q'), responseBody: Buffer.alloc(10_000, 'a') };

t.test('a large frame of the first build, whose checksum is of all its bytes, is read', async (t) => {
  const header = Buffer.from('374e0000c0960b1601000100000000000700000010270000', 'hex');
  const bytes = Buffer.concat([header, LARGE.head, LARGE.requestBody, LARGE.responseBody]);
  const frame = { kind: 'finished', call: 1, entry: LARGE };
  t.same(decodeFrame(bytes, 0), { state: 'whole', frame, bytes: bytes.length });
  bytes[10_000]! ^= 1;
  t.same(decodeFrame(bytes, 0), { state: 'damaged', reason: 'checksum mismatch', bytes: bytes.length });
});

/** The first 8 bytes of each 512, and the last 8. */
function samplesOf(body: Buffer): Buffer {
  const starts = Array.from({ length: Math.ceil(body.length / 512) }, (_, index) => 512 * index);
  return Buffer.concat([...starts.map((start) => body.subarray(start, start + 8)), body.subarray(-8)]);
}

const anyLargeEntry = fc
  .record({
    head: fc.uint8Array({ maxLength: 50 }),
    requestBody: fc.oneof(fc.constant(new Uint8Array(0)), fc.uint8Array({ maxLength: 3_000 })),
    responseBody: fc.uint8Array({ minLength: 17_000, maxLength: 17_600, size: 'max' }),
    isSwapped: fc.boolean(),
  })
  .map(({ head, requestBody, responseBody, isSwapped }) => {
    const [first, second] = isSwapped ? [responseBody, requestBody] : [requestBody, responseBody];
    return { head: Buffer.from(head), requestBody: Buffer.from(first), responseBody: Buffer.from(second) };
  });

t.test(
  'a frame too large to copy has parts that are not copied, and a checksum of their samples',
  async (t) => {
    fc.assert(
      fc.property(anyLargeEntry, (entry) => {
        const frame: Frame = { kind: 'finished', call: 1, entry };
        const { buffers, bytes } = encodeFrame(frame);
        const header = Buffer.from(buffers[0]!);
        const parts = [entry.head, entry.requestBody, entry.responseBody].filter(({ length }) => length > 0);
        t.equal(bytes, 24 + entry.head.length + entry.requestBody.length + entry.responseBody.length);
        t.equal(header.readUInt16LE(8), 4);
        const checked = [
          header.subarray(0, 4),
          header.subarray(8),
          entry.head,
          ...[entry.requestBody, entry.responseBody].map(samplesOf),
        ];
        t.equal(header.readUInt32LE(4), crc32(Buffer.concat(checked)));
        t.ok(
          buffers.slice(1).every((buffer, index) => buffer === parts[index]),
          'views, not copies',
        );
        t.same(decodeFrame(Buffer.concat(buffers), 0), { state: 'whole', frame, bytes });
      }),
      { numRuns: 50 },
    );
  },
);

t.test(
  'a sector that a disk has lost is found in a large frame, wherever in the file that begins',
  async (t) => {
    const SECTOR = 512;
    const whole = Buffer.concat(encodeFrame({ kind: 'finished', call: 1, entry: LARGE }).buffers);
    const missed: object[] = [];
    for (let start = 0; start < SECTOR; start += 1) {
      const file = Buffer.concat([Buffer.alloc(start), whole]);
      for (let from = 0; from < file.length; from += SECTOR) {
        // Zeros, and what the bodies hold themselves.
        for (const fill of [0, 'q', 'a']) {
          const to = Math.min(from + SECTOR, file.length);
          const lost = Buffer.from(file).fill(fill, Math.max(start, from), to);
          const isFound = decodeFrame(lost, start).state !== 'whole';
          if (isFound === lost.equals(file)) missed.push({ start, from, fill });
        }
      }
    }
    t.same(missed, []);
  },
);

t.test('a frame of an unknown kind is reported as damage and never misread', async (t) => {
  const later = Buffer.concat(encodeFrame({ kind: 'void', call: 7, entry: EMPTY }).buffers);
  later.writeUInt16LE(5, 8);
  later.writeUInt32LE(crc32(later.subarray(8)), 4);
  t.same(decodeFrame(later, 0), {
    state: 'damaged',
    reason: 'a frame of an unknown kind',
    bytes: later.length,
  });
});

t.test('a message of entries of the first build is read, and written byte for byte', async (t) => {
  const entries = [
    { ...ENTRY, position: { segment: 1, offset: 58 } },
    { ...EMPTY, head: Buffer.from('{}'), position: { segment: 0xffff_ffff, offset: 2 } },
  ];
  const hex = [
    `01${OUTBOX_HEX}`,
    `010000003a000000070000000d0000000e000000${PARTS_HEX}`,
    'ffffffff020000000200000000000000000000007b7d',
  ].join('');
  t.same(decodeMessage(Buffer.from(hex, 'hex')), { kind: 'entries', outboxId: OUTBOX, entries });
  t.equal(encodeEntries(OUTBOX, entries).toString('hex'), hex);
});

t.test('the parts of a large entry of the first build are joined, and cut byte for byte', async (t) => {
  const position = { segment: 1, offset: 58 };
  const hex = [
    `02${OUTBOX_HEX}010000003a000000000000000200000018000000070000000d0000000e0000007b2276223a317d7b226d6f64`,
    `02${OUTBOX_HEX}010000003a000000010000000200000018000000656c223a226d227d646174613a205b444f4e455d0a0a`,
  ];
  const parts = hex.map((one) => decodeMessage(Buffer.from(one, 'hex')));
  t.match(parts, [
    { kind: 'part', outboxId: OUTBOX, position, index: 0, count: 2, cutBytes: 24 },
    { kind: 'part', outboxId: OUTBOX, position, index: 1, count: 2, cutBytes: 24 },
  ]);
  t.same(joinParts(parts.map((part) => (part.kind === 'part' ? part.bytes : NOTHING))), ENTRY);
  const cut = [...encodeParts(OUTBOX, { ...ENTRY, position }, 47 + 24)];
  t.same(
    cut.map((message) => message.toString('hex')),
    hex,
  );
});

t.test('a damage message of the first build is read, and written byte for byte', async (t) => {
  const damage = {
    position: { segment: 3, offset: 99 },
    reason: 'checksum mismatch',
    bytes: Buffer.of(1, 2, 3),
  };
  const hex = `03${OUTBOX_HEX}030000006300000011000000636865636b73756d206d69736d61746368010203`;
  t.same(decodeMessage(Buffer.from(hex, 'hex')), { kind: 'damage', outboxId: OUTBOX, ...damage });
  t.equal(encodeDamage(OUTBOX, damage, 1_000).toString('hex'), hex);
});

const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const anyEntry: fc.Arbitrary<LogEntry> = fc.record({ head: bytes, requestBody: bytes, responseBody: bytes });
const anyForm = fc.constantFrom('bounded' as const, 'counted' as const);

t.test('every entry is read back from where it was written, in both forms', async (t) => {
  fc.assert(
    fc.property(anyEntry, anyForm, fc.nat(20), (entry, form, offset) => {
      const target = Buffer.alloc(offset + encodedSize(entry, form));
      t.equal(writeEntry(target, offset, entry, form), target.length);
      t.same(readEntry(target, offset, form), { entry, end: target.length });
    }),
  );
});

t.test('an entry that is cut short is refused, in both forms', async (t) => {
  for (const form of ['bounded', 'counted'] as const) {
    const whole = Buffer.alloc(encodedSize(ENTRY, form));
    writeEntry(whole, 0, ENTRY, form);
    // The bound of a bounded entry is the end of its response body: a cut there is the container's to notice.
    const least = form === 'counted' ? whole.length : whole.length - ENTRY.responseBody.length;
    for (let length = 0; length < least; length += 1)
      t.equal(readEntry(whole.subarray(0, length), 0, form), null);
    t.ok(lengthsSize(form) < least);
  }
});

t.test('lengths that noise claims never reach beyond the bytes that are there', async (t) => {
  fc.assert(
    fc.property(bytes, anyForm, (noise, form) => {
      const read = readEntry(noise, 0, form);
      t.ok(read === null || read.end <= noise.length);
    }),
  );
});
