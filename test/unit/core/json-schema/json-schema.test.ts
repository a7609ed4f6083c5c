import t from 'tap';
import { findBreach, readJsonSchema } from '#core/json-schema/mod.ts';

const breachOf = (schema: unknown, value: unknown) => {
  const breach = findBreach(readJsonSchema(schema), value, 'expected');
  return breach === null ? null : `${breach.path} ${breach.rule}`;
};

/** A schema, values that fit it, and values that do not, each with the sentence. */
const CASES: [schema: unknown, fits: unknown[], breaks: [value: unknown, sentence: string][]][] = [
  [true, [null, {}], []],
  [false, [], [[1, 'expected must not be there, but is 1']]],
  [{ type: 'integer' }, [1, 1.0], [[1.5, 'expected must be of type integer, but is 1.5']]],
  [{ type: ['string', 'null'] }, ['', null], [[{}, 'expected must be of type string or null, but is {}']]],
  [
    { enum: ['a', 1, null, { b: [1], c: 2 }] },
    ['a', 1, null, { c: 2, b: [1] }],
    [
      [{ b: [1] }, 'expected must be one of the values that the schema lists, but is {"b":[1]}'],
      ['1', 'expected must be one of the values that the schema lists, but is "1"'],
      [[], 'expected must be one of the values that the schema lists, but is []'],
    ],
  ],
  [{ const: 0 }, [0, -0], [[1, 'expected must be one of the values that the schema lists, but is 1']]],
  [
    { minLength: 2, maxLength: 3 },
    ['😀😀', 5],
    [
      ['😀', 'expected must have at least 2 characters, but is "😀"'],
      ['abcd', 'expected must have at most 3 characters, but is "abcd"'],
    ],
  ],
  [
    { minimum: 0, exclusiveMaximum: 1, multipleOf: 0.1 },
    [0, 0.3, 'x'],
    [
      [-0.1, 'expected must be at least 0, but is -0.1'],
      [1, 'expected must be below 1, but is 1'],
      [0.25, 'expected must be a multiple of 0.1, but is 0.25'],
    ],
  ],
  [{ multipleOf: 1 }, [1e300], [[1234567890.5, 'expected must be a multiple of 1, but is 1234567890.5']]],
  [
    {
      properties: { a: { type: 'string' } },
      required: ['a', '__proto__'],
      additionalProperties: false,
    },
    ['no object'],
    [
      [{ a: '1' }, 'expected must have the member "__proto__", but is {"a":"1"}'],
      [JSON.parse('{"a":1,"__proto__":1}'), 'expected.a must be of type string, but is 1'],
      [JSON.parse('{"a":"1","__proto__":1}'), 'expected.__proto__ must not be there, but is 1'],
    ],
  ],
  [{ required: ['toString'] }, [], [[{}, 'expected must have the member "toString", but is {}']]],
  [
    { propertyNames: { maxLength: 1 }, minProperties: 1, maxProperties: 2 },
    [{ a: 1 }],
    [
      [{}, 'expected must have at least 1 members, but is {}'],
      [{ ab: 1 }, 'expected must have only names that fit propertyNames, but is "ab"'],
    ],
  ],
  [
    { prefixItems: [{ type: 'string' }], items: { type: 'number' }, minItems: 1, maxItems: 3 },
    [['a'], ['a', 1]],
    [
      [[], 'expected must have at least 1 items, but is []'],
      [['a', 'b'], 'expected.1 must be of type number, but is "b"'],
      [[1], 'expected.0 must be of type string, but is 1'],
    ],
  ],
  [
    { uniqueItems: true, contains: { const: 1 } },
    [[1, '1', true, null, [1]]],
    [
      [
        [1, { a: 1, b: 2 }, { b: 2, a: 1 }],
        'expected must not hold an item twice, but is [1,{"a":1,"b":2},{"b":2,"a":1}]',
      ],
      [[2], 'expected must hold an item that fits contains, but is [2]'],
    ],
  ],
  [
    { allOf: [{ type: 'number' }, { minimum: 1 }], not: { const: 5 } },
    [1],
    [
      [0, 'expected must be at least 1, but is 0'],
      [5, 'expected must not fit the schema of not, but is 5'],
    ],
  ],
  [
    { anyOf: [{ const: 1 }, { const: 2 }] },
    [1, 2],
    [[3, 'expected must fit one of the 2 schemas of anyOf, but is 3']],
  ],
  [
    { oneOf: [{ minimum: 1 }, { maximum: 1 }] },
    [0, 2],
    [[1, 'expected must fit exactly one of the 2 schemas of oneOf, but is 1']],
  ],
  [
    { $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'string' } }, title: 'x', format: 'date', default: 1 },
    ['not a date'],
    [[1, 'expected must be of type string, but is 1']],
  ],
];

t.test('a value fits a schema, or breaks a rule with a sentence', async (t) => {
  for (const [schema, fits, breaks] of CASES) {
    const name = JSON.stringify(schema);
    for (const value of fits) t.equal(breachOf(schema, value), null, `${name} ${JSON.stringify(value)}`);
    for (const [value, sentence] of breaks) t.equal(breachOf(schema, value), sentence, name);
  }
});

let deep: unknown = {};
for (let level = 0; level < 40; level += 1) deep = { not: deep };

const REFUSED: [schema: unknown, sentence: RegExp][] = [
  [{ pattern: '(a+)+$' }, /^\.pattern is a keyword that is not supported/],
  [{ properties: { a: { patternProperties: {} } } }, /^\.properties\.a\.patternProperties is a keyword/],
  [{ constructor: 1 }, /^\.constructor is a keyword that is not supported/],
  [{ $dynamicRef: '#' }, /^\.\$dynamicRef is a keyword that is not supported/],
  [[], /^ must be a schema, but is \[\]/],
  [{ items: [] }, /^\.items must be a schema, but is \[\]/],
  [{ type: 'text' }, /^\.type must be one of null, boolean/],
  [{ enum: [] }, /^\.enum must be an array of 1 to 1000 values/],
  [{ enum: Array(1_001).fill(1) }, /^\.enum must be an array of 1 to 1000 values/],
  [{ minLength: -1 }, /^\.minLength must be a whole number/],
  [{ multipleOf: 0 }, /^\.multipleOf must be a number above 0/],
  [{ required: [1] }, /^\.required must be an array of strings/],
  [{ $ref: 'https://example.com/schema' }, /^\.\$ref must be # or begin with #\//],
  [{ $ref: '#/$defs/none' }, /^\.\$ref must lead to a part of the schema/],
  [{ $ref: '#/constructor' }, /^\.\$ref must lead to a part of the schema/],
  [{ $ref: '#' }, /is nested deeper than 32 levels, references followed/],
  [{ properties: { next: { $ref: '#' } } }, /is nested deeper than 32 levels/],
  [deep, /is nested deeper than 32 levels/],
  [{ allOf: Array(501).fill(true) }, /is one of more than 500 schemas/],
  [{ description: 'x'.repeat(65_536) }, /^ has 65554 characters, of which at most 65536 are allowed/],
  [
    // Each level refers to the next one twice.
    {
      $ref: '#/$defs/0',
      $defs: {
        ...Object.fromEntries(
          Array.from({ length: 12 }, (_, n) => [n, { allOf: Array(2).fill({ $ref: `#/$defs/${n + 1}` }) }]),
        ),
        12: true,
      },
    },
    /is one of more than 500 schemas, references followed/,
  ],
];

t.test('a schema is refused for what it holds and for its size', async (t) => {
  for (const [schema, sentence] of REFUSED)
    t.throws(() => readJsonSchema(schema), { message: sentence }, String(sentence));
});

t.test('no schema makes a check take long', async (t) => {
  const many = Array.from({ length: 50_000 }, () => 1);
  const composite = Array.from({ length: 1_000 }, (_, index) => [[[index]]]);
  const HOSTILE: [schema: unknown, value: unknown][] = [
    [{ allOf: Array(240).fill({ items: { type: 'number' } }) }, many],
    [{ allOf: Array(240).fill({ uniqueItems: true }) }, many.map((_, index) => index)],
    [{ items: { enum: composite } }, many.map(() => [[[-1]]])],
    [{ anyOf: Array(240).fill({ maxLength: 1 }) }, 'x'.repeat(1_000_000)],
    [{ anyOf: Array(240).fill({ type: 'string' }) }, many],
    [
      { items: { properties: Object.fromEntries(many.slice(0, 400).map((_, at) => [`p${at}`, true])) } },
      many.map(() => ({})),
    ],
    [{ anyOf: Array(240).fill({ maxProperties: 1 }) }, Object.fromEntries(many.map((_, at) => [at, at]))],
  ];
  for (const [schema, value] of HOSTILE) {
    const read = readJsonSchema(schema);
    const beganAt = performance.now();
    t.ok(findBreach(read, value, 'x'));
    const tookMs = performance.now() - beganAt;
    t.ok(tookMs < 500, `${Math.round(tookMs)} ms`);
  }
});
