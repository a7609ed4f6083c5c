import { deepStrictEqual, strictEqual } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { GatheredBytes } from '#platform/http-message/mod.ts';

/** Sizes on both sides of those at which pieces are copied and blocks end. */
const size = fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constantFrom(1_000, 8_191, 8_192, 20_000, 65_536));

/** A piece as a socket gives it, or a slice out of the middle of one. */
const piece = fc.record({
  size,
  before: fc.constantFrom(0, 1, 50_000),
  letter: fc.integer({ min: 1, max: 255 }),
});

t.test('gathered bytes are all pushed bytes in order, whenever they are read', async () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(piece, fc.boolean()), { maxLength: 12 }), (pieces) => {
      const gathered = new GatheredBytes();
      let expected = Buffer.alloc(0);
      const given: [bytes: Buffer, copy: Buffer][] = [];
      for (const [{ size, before, letter }, isAskedFor] of pieces) {
        const bytes = Buffer.alloc(before + size, letter).subarray(before);
        gathered.push(bytes);
        expected = Buffer.concat([expected, bytes]);
        strictEqual(gathered.length, expected.length);
        if (!isAskedFor) continue;
        given.push([gathered.bytes(), expected]);
      }
      given.push([gathered.bytes(), expected]);
      // Also those given out before more arrived.
      for (const [bytes, copy] of given) strictEqual(bytes.equals(copy), true);
      gathered.clear();
      deepStrictEqual([gathered.length, gathered.bytes().length], [0, 0]);
    }),
    { numRuns: 1_000 },
  );
});

t.test('a body that arrives in one piece is not copied', async (t) => {
  const gathered = new GatheredBytes();
  const bytes = Buffer.alloc(20_000);
  gathered.push(bytes);
  t.equal(gathered.bytes(), bytes);
});
