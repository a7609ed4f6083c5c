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

t.test('a frame too large to copy has the header of the first build, and its parts behind it', async (t) => {
  const entry = { ...ENTRY, requestBody: Buffer.alloc(10_000, 'q'), responseBody: Buffer.alloc(10_000, 'a') };
  const { buffers, bytes } = encodeFrame({ kind: 'finished', call: 1, entry });
  t.equal(Buffer.from(buffers[0]!).toString('hex'), '374e0000c0960b1601000100000000000700000010270000');
  t.same(buffers.slice(1), [entry.head, entry.requestBody, entry.responseBody], 'views, not copies');
  t.equal(decodeFrame(Buffer.concat(buffers), 0).state, 'whole');
  t.equal(bytes, 24 + 7 + 20_000);
});

t.test('a frame of an unknown kind is reported as damage and never misread', async (t) => {
  const later = Buffer.concat(encodeFrame({ kind: 'void', call: 7, entry: EMPTY }).buffers);
  later.writeUInt16LE(4, 8);
  later.writeUInt32LE(crc32(later.subarray(8)), 4);
  t.same(decodeFrame(later, 0), { state: 'damaged', reason: 'a frame of an unknown kind' });
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
