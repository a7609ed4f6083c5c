import { deepStrictEqual } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import type { StreamTranslator } from '../../../../gateway/translations/stream-translator.ts';
import { anyCharacter } from '../../../support/any-character.ts';
import { runs } from '../../../support/fuzz-runs.ts';
import {
  blockStart,
  dataOf,
  delta,
  fixture,
  fromAnthropic,
  fromOpenAi,
  messageEnd,
  messageStart,
  translateCut,
} from '../dialects/streams.ts';

const STREAMS: [string, () => StreamTranslator][] = [
  ['tool-use.anthropic', fromAnthropic],
  ['text.anthropic', fromAnthropic],
  ['overloaded.anthropic', fromAnthropic],
  ['tools.openai', fromOpenAi],
];

for (const [name, make] of STREAMS) {
  t.test(`${name} translates alike when cut at one byte or at all, with any line end`, async (t) => {
    const bytes = fixture(name);
    const whole = translateCut(make, bytes, []);
    const everywhere = Array.from({ length: bytes.length }, (_, place) => place);
    t.equal(translateCut(make, bytes, everywhere), whole);
    t.same(
      everywhere.filter((place) => translateCut(make, bytes, [place]) !== whole),
      [],
    );
    // Events in another notation than the provider's are parsed and written again: the same values, other escapes.
    t.same(dataOf(translateCut(make, fixture(name, '\r\n'), everywhere)), dataOf(whole));
    t.same(dataOf(translateCut(make, fixture(name, '\r'), everywhere)), dataOf(whole));
    t.equal(translateCut(make, bytes.subarray(0, -1), []), whole, 'nor does a missing blank line matter');
    const spoken = Buffer.from(bytes.toString().replaceAll('data: ', ': a comment\ndata:'));
    t.same(dataOf(translateCut(make, spoken, [])), dataOf(whole), 'nor comments and missing spaces');
  });
}

t.test('a stream cut at ten or more places translates to the same bytes as the whole', async (t) => {
  const whole = new Map(STREAMS.map(([name, make]) => [name, translateCut(make, fixture(name), [])]));
  fc.assert(
    fc.property(
      fc.constantFrom(...STREAMS),
      fc.array(fc.nat(), { minLength: 10, maxLength: 30 }),
      ([name, make], cuts) => {
        const bytes = fixture(name);
        const places = cuts.map((cut) => cut % bytes.length);
        return translateCut(make, bytes, places) === whole.get(name);
      },
    ),
    runs(t, 500),
  );
});

t.test('a delta copied by its bytes translates as the same delta parsed', async (t) => {
  const kind = fc.constantFrom(
    ['text_delta', 'text'] as const,
    ['input_json_delta', 'partial_json'] as const,
  );
  const change = fc.tuple(
    kind,
    fc.string({ unit: anyCharacter, maxLength: 30 }),
    fc.nat({ max: 9 }),
    fc.nat({ max: 1 }),
  );
  const start =
    messageStart() +
    blockStart(0, { type: 'text', text: '' }) +
    blockStart(1, { type: 'tool_use', id: 'a', name: 'f', input: {} });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 8 }), (changes) => {
      const frames = changes.map(([[type, member], text, spaces, index]) =>
        delta(index, { type, [member]: text }).replace(/\}\}\n\n$/, `}${' '.repeat(spaces)}}\n\n`),
      );
      // With a space before it, a frame's data is not in the bytes that are known, and is parsed.
      const parsed = frames.map((frame) => frame.replace('data: {', 'data:  {'));
      const [copied, read] = [frames, parsed].map((all) =>
        dataOf(translateCut(fromAnthropic, Buffer.from(start + all.join('') + messageEnd('end_turn')), [])),
      );
      deepStrictEqual(copied, read);
    }),
    runs(t, 500),
  );
});
