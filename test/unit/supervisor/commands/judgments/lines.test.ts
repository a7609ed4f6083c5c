import fc from 'fast-check';
import t from 'tap';
import { linesOf } from '../../../../../supervisor/commands/judgments/lines.ts';
import { runs } from '../../../../support/fuzz-runs.ts';

async function read(chunks: readonly Buffer[], maxBytes = 1_000) {
  async function* source() {
    yield* chunks;
  }
  const lines = [];
  for await (const line of linesOf(source(), maxBytes)) lines.push(line);
  return lines;
}

t.test('lines are the same wherever the chunks of a file end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('{"a":"é😀"}', '', '  ', '{}\r'), { maxLength: 8 }),
      fc.array(fc.nat(12), { maxLength: 20 }),
      async (texts, cuts) => {
        const bytes = Buffer.from(texts.join('\n'));
        const chunks: Buffer[] = [];
        let from = 0;
        for (const length of cuts) {
          chunks.push(bytes.subarray(from, from + length));
          from += length;
        }
        const expected = texts.flatMap((text, index) =>
          text.trim() === '' ? [] : [{ number: index + 1, text: text.trim() }],
        );
        const lines = await read([...chunks, bytes.subarray(from)]);
        t.strictSame(lines, expected);
      },
    ),
    runs(t, 100),
  );
});

t.test('a line that is too long is refused with its number, before it is whole', async (t) => {
  await t.rejects(read([Buffer.from('{}\n'), Buffer.alloc(600, 'x'), Buffer.alloc(600, 'x')]), {
    message: 'Line 2 is longer than the 1000 bytes allowed',
  });
});
