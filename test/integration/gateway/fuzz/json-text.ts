/**
 * JSON as no serializer writes it: odd spacing, names twice, numbers that no double holds, escapes where none is needed,
 * halves of surrogate pairs, bytes that are no UTF-8. Texts here have a character for each byte (Latin-1), so that what is
 * expected can be put together from the same parts without reading anything.
 */
import fc from 'fast-check';

/** A member of an object as it is written: its name with its quotes, and its value. */
export type Member = { name: string; value: string };

/** The characters of a text's bytes. */
export function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

const space: fc.Arbitrary<string> = fc.constantFrom('', '', '', ' ', '\n', '\t', '\r\n', ' \n  ');

/** What stands between the parts of an object, taken in turn. */
export const spaces = fc.array(space, { minLength: 1, maxLength: 7 });

/** Writes an object: the same for the same spaces, but for what its members are. */
export function writeObject(members: readonly Member[], gaps: readonly string[]): string {
  let turn = 0;
  const gap = () => gaps[turn++ % gaps.length]!;
  const written = members.map(({ name, value }) => `${gap()}${name}${gap()}:${gap()}${value}${gap()}`);
  return `{${written.join(',')}${members.length === 0 ? gap() : ''}}`;
}

const PIECES = [
  'a',
  ' ',
  '0',
  '\x7f',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\\"',
  '\\\\',
  '\\/',
  '\\n',
  '\\u0000',
  '\\u00e9',
  '\\ud83d',
  '\\ude80',
  '\\uD83D\\uDE80',
  '\\"model\\":\\"x\\"',
  '\\"}],',
  bytesOf('é'),
  bytesOf('漢'),
  bytesOf('🚀'),
  bytesOf('\u2028'),
  bytesOf('\ufeff'),
  '\xff',
  '\xc3',
];

export const rawString = fc
  .array(fc.constantFrom(...PIECES), { maxLength: 8 })
  .map((pieces) => `"${pieces.join('')}"`);

const NUMBERS = [
  '0',
  '-0',
  '1',
  '1.0',
  '1.10',
  '0.1000000000000000055511151231257827',
  '1.50e+02',
  '1E5',
  '1e400',
  '-1E-400',
  '9007199254740993',
  '12345678901234567890',
];

const DEEP = 5_000;
const rare = fc.constantFrom(
  `${'['.repeat(DEEP)}${']'.repeat(DEEP)}`,
  `${'{"":'.repeat(DEEP)}null${'}'.repeat(DEEP)}`,
);

/** Names that mean something to JavaScript, or nearly the same as a known one to a careless reader. */
const NAMES = ['"__proto__"', '"constructor"', '"toJSON"', '"1"', '""', '"Model"', '"model "', '"streams"'];
const name = fc.oneof(fc.constantFrom(...NAMES), rawString);

/** Any value. */
export const rawValue: fc.Arbitrary<string> = fc.letrec<{ value: string; member: Member }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { arbitrary: fc.constantFrom('null', 'true', 'false', ...NUMBERS), weight: 6 },
    { arbitrary: rawString, weight: 6 },
    {
      arbitrary: fc
        .tuple(fc.array(tie('value'), { maxLength: 4 }), space)
        .map(([items, gap]) => `[${gap}${items.join(`${gap},`)}${gap}]`),
      weight: 2,
    },
    {
      arbitrary: fc
        .tuple(fc.array(tie('member'), { maxLength: 4 }), spaces)
        .map(([members, gaps]) => writeObject(members, gaps)),
      weight: 3,
    },
  ),
  member: fc.record({
    name: fc.oneof(name, fc.constantFrom('"model"', '"stream"', '"stream_options"')),
    value: tie('value'),
  }),
})).value;

/** Members that no provider has heard of, one of them now and then very deep. */
export const unknownMembers: fc.Arbitrary<Member[]> = fc.array(
  fc.record({
    name,
    value: fc.oneof({ arbitrary: rawValue, weight: 99 }, { arbitrary: rare, weight: 1 }),
  }),
  { maxLength: 6 },
);

/** A text as a JSON string, some of its characters as escapes. */
export function spelled(text: string): fc.Arbitrary<string> {
  const units = Array.from({ length: text.length }, (_, index) => {
    const escaped = `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`;
    const plain = bytesOf(JSON.stringify(text[index]).slice(1, -1));
    return fc.constantFrom(plain, plain, plain, plain, plain, plain, plain, escaped);
  });
  return fc.tuple(...units).map((parts) => `"${parts.join('')}"`);
}
