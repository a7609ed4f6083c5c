/** Runs of plain bytes: the search by words against a look at each byte. */
import { deepStrictEqual, strictEqual } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { PLAIN } from '#core/json/json-bytes.ts';
import { PlainRuns } from '#core/json/plain-run.ts';
import { runs } from '../../../support/fuzz-runs.ts';

/** Bytes at every distance from a boundary of four bytes in memory. */
function placed(bytes: Uint8Array, offset: number): Buffer {
  const memory = Buffer.alloc(bytes.length + offset + 8, '"');
  memory.set(bytes, offset);
  return memory.subarray(offset, offset + bytes.length);
}

const plainByte = fc.constantFrom(0x20, 0x21, 0x23, 0x5b, 0x5d, 0x61, 0x7f, 0x80, 0xa2, 0xdc, 0xff);
const bytes = fc.tuple(fc.array(plainByte, { minLength: 1, maxLength: 7 }), fc.integer({ min: 0, max: 700 }));

t.test(
  'the end of a run is the first byte that is not plain, wherever the bytes lie in memory',
  async (t) => {
    const special = fc.array(fc.tuple(fc.nat({ max: 720 }), fc.nat({ max: 0xff })), { maxLength: 4 });
    fc.assert(
      fc.property(
        bytes,
        special,
        fc.nat({ max: 7 }),
        fc.nat(),
        fc.nat(),
        ([pattern, length], put, offset, a, b) => {
          const text = Uint8Array.from({ length }, (_, at) => pattern[at % pattern.length]!);
          for (const [at, byte] of put) if (at < length) text[at] = byte;
          const placedText = placed(text, offset);
          const [from, to] = [a % (length + 1), b % (length + 1)].sort((x, y) => x - y) as [number, number];
          let expected = from;
          while (expected < to && PLAIN[text[expected]!] === 1) expected += 1;
          strictEqual(new PlainRuns(placedText).end(from, to), expected);
        },
      ),
      runs(t, 4_000),
    );
  },
);

t.test(
  'long texts that are searched in steps have the same special bytes as a look at each byte finds',
  async (t) => {
    const step = fc.integer({ min: 1, max: 6_000 });
    const put = fc.array(fc.tuple(fc.nat({ max: 12_000 }), fc.constantFrom(0x22, 0x5c, 0x1f, 0x00)), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 1_000, max: 12_000 }),
        put,
        fc.nat({ max: 7 }),
        fc.array(step, { minLength: 1, maxLength: 5 }),
        (length, special, offset, steps) => {
          const text = new Uint8Array(length).fill(0x61);
          for (const [at, byte] of special) if (at < length) text[at] = byte;
          const runsOfText = new PlainRuns(placed(text, offset));
          const found = [];
          for (let at = 0, turn = 0; at < length; turn += 1) {
            const to = Math.min(length, at + steps[turn % steps.length]!);
            while (at < to) {
              at = runsOfText.end(at, to);
              if (at < to) found.push(at++);
            }
          }
          deepStrictEqual(
            found,
            [...text.keys()].filter((at) => PLAIN[text[at]!] !== 1),
          );
        },
      ),
      runs(t, 1_000),
    );
  },
);

t.test('each of the 256 bytes ends a run or not, at each place of a word', async (t) => {
  for (let byte = 0; byte < 256; byte += 1) {
    for (let at = 300; at < 308; at += 1) {
      const text = new Uint8Array(400).fill(0x61);
      text[at] = byte;
      const end = new PlainRuns(placed(text, 3)).end(0, text.length);
      if (end !== (PLAIN[byte] === 1 ? text.length : at)) t.fail(`byte ${byte} at ${at}: ${end}`);
    }
  }
  t.pass();
});
