import { type TSchema, Type } from '@sinclair/typebox';
import t from 'tap';
import { Compile, parseWith } from '#core/contracts/check.ts';
import { closed, Nullable, OneOf } from '#core/contracts/shapes.ts';

function refusalOf(schema: TSchema, value: unknown): string | null {
  try {
    parseWith(Compile(schema), value);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

const field = (schema: TSchema) => Type.Object({ a: schema }, closed);
const Secret = Type.Object(
  { key: Type.String({ minLength: 1, maxLength: 9, unquoted: true }) },
  {
    ...closed,
    unquoted: true,
  },
);
const Named = Type.Record(Type.String({ pattern: '^[\\s\\S]{1,3}$' }), Type.Integer(), {
  ...closed,
  maxProperties: 2,
  nameRule: 'must have a name of 1 to 3 characters',
});

for (const [what, schema, value, sentence] of [
  [
    'a text for a number or null',
    field(Nullable(Type.Number())),
    { a: 'x' },
    'a must be a number or null, but is "x"',
  ],
  [
    'a number that is too large, or null',
    field(Nullable(Type.Number({ maximum: 5 }))),
    { a: 6 },
    'a must be at most 5, but is 6',
  ],
  [
    'an infinite number',
    field(Type.Number()),
    { a: Number.POSITIVE_INFINITY },
    'a must be a number, but is Infinity',
  ],
  [
    'another text than those allowed',
    field(OneOf(['b', 'c'])),
    { a: 'd' },
    'a must be one of "b", "c", but is "d"',
  ],
  ['an empty text', field(Type.String({ minLength: 1 })), { a: '' }, 'a must not be empty'],
  [
    'a long text',
    field(Type.String({ maxLength: 2 })),
    { a: 'abc' },
    'a must have at most 2 characters, but has 3',
  ],
  [
    'a text that breaks a pattern',
    field(Type.String({ pattern: '^b', rule: 'must begin with b' })),
    { a: 'c' },
    'a must begin with b, but is "c"',
  ],
  ['an unknown field', field(Type.Any()), { a: 1, 'b c': 1 }, '"b c" is not a known field'],
  ['an unknown field beside a secret', Secret, { key: 'x', hunter2: 1 }, 'body must have no field but key'],
  ['a secret of another type', Secret, { key: ['hunter2'] }, 'key must be a string'],
  ['a long secret', Secret, { key: 'hunter2hunter2' }, 'key must have at most 9 characters, but has 14'],
  ['a long name', field(Named), { a: { 'x\n..': 1 } }, 'a["x\\n.."] must have a name of 1 to 3 characters'],
  [
    'a wrong value by name',
    field(Named),
    { a: { 'x\n': 'b' } },
    'a["x\\n"] must be a whole number, but is "b"',
  ],
  ['too many fields', field(Named), { a: { x: 1, y: 1, z: 1 } }, 'a must hold at most 2 fields, but holds 3'],
] as const) {
  t.test(`${what} is refused with its sentence`, (t) => {
    t.equal(refusalOf(schema, value), sentence);
    t.end();
  });
}
