import fc from 'fast-check';
import t from 'tap';
import { AssayError } from '#core/contracts/errors.ts';
import type { JsonObject } from '#core/json/mod.ts';
import { expandPrompt, parsePrompt } from '#core/prompts/mod.ts';
import { anyCharacter } from '../../../support/any-character.ts';

const MAX_BYTES = 1_000_000;

/** Returns the expanded body as a value. */
function expand(body: unknown, inputs: JsonObject = {}, maxBytes = MAX_BYTES): unknown {
  const members = expandPrompt(parsePrompt(JSON.stringify(body)), inputs, maxBytes);
  return Object.fromEntries([...members].map(([name, json]) => [name, JSON.parse(json)]));
}

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof AssayError) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'accepted';
}

t.test('placeholders are filled in strings of every member, at every depth', async (t) => {
  const body = {
    model: '{{model}}',
    messages: [
      { role: 'system', content: 'You help {{ team }}.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi {{hc:name:string}}, {{name}}!' }] },
    ],
    tools: [{ type: 'function', function: { name: 'look', parameters: { enum: ['{{a}}', 'b'] } } }],
    response_format: { type: 'json_schema', json_schema: { schema: { maximum: '{{max:number}}' } } },
    stop: '{{\n stops : json }}',
  };
  const inputs = { model: 'gpt-4o', team: 'Ann & "Bob"', name: 'Zoë', a: 'x', max: 5, stops: ['\n', '"'] };
  t.same(expand(body, inputs), {
    model: 'gpt-4o',
    messages: [
      { role: 'system', content: 'You help Ann & "Bob".' },
      { role: 'user', content: [{ type: 'text', text: 'Hi Zoë, Zoë!' }] },
    ],
    tools: [{ type: 'function', function: { name: 'look', parameters: { enum: ['x', 'b'] } } }],
    response_format: { type: 'json_schema', json_schema: { schema: { maximum: 5 } } },
    stop: ['\n', '"'],
  });
});

t.test(
  'a placeholder alone in its string becomes the JSON value, and within a text its JSON text',
  async (t) => {
    const cases: [string, unknown, unknown, string][] = [
      ['number', 1.5, 1.5, '= 1.5'],
      ['boolean', false, false, '= false'],
      ['json', { a: ['"'] }, { a: ['"'] }, '= {"a":["\\""]}'],
      ['json', 'text', 'text', '= "text"'],
      ['json', null, null, '= null'],
      ['string', '7', '7', '= 7'],
    ];
    for (const [type, value, alone, within] of cases) {
      const body = { alone: `{{x:${type}}}`, within: `= {{x:${type}}}` };
      t.same(expand(body, { x: value }), { alone, within }, `${type} ${JSON.stringify(value)}`);
    }
    t.same(expand({ a: '{{x}}', b: '{{y}}' }, { x: 7, y: true }), { a: '7', b: 'true' }, 'no type: text');
    t.same(
      expand({ a: '{{x}}', b: '{{x:number}}' }, { x: 7 }),
      { a: 7, b: 7 },
      'a type that one placeholder declares is the type of all',
    );
  },
);

t.test('a value that holds a placeholder is not expanded again', async (t) => {
  t.same(expand({ a: '{{x}} {{y}}' }, { x: '{{y}}', y: '{{x}}' }), { a: '{{y}} {{x}}' });
  t.same(expand({ a: '{{x:json}}' }, { x: { b: '{{x}}' } }), { a: { b: '{{x}}' } });
  t.same(expand({ a: '{{{x}}}' }, { x: '{y}' }), { a: '{{y}}' }, 'nor with the braces around it');
});

t.test('other texts between braces, and names of members, are left alone', async (t) => {
  const texts = [
    '{{}}',
    '{{#if x}}',
    '{{ "a": 1 }}',
    '{{a b}}',
    '{{a',
    '{ {a}}',
    '{{a}',
    `{{${'x'.repeat(129)}}}`,
  ];
  t.same(expand({ texts }), { texts });
  t.same(expand({ a: { '{{x}}': 1 } }), { a: { '{{x}}': 1 } });
});

t.test('a number keeps all of its digits, in the prompt and in an input', async (t) => {
  const template = parsePrompt('{"seed":12345678901234567890,"big":"{{x:number}}"}');
  const inputs = {
    x: (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON('98765432109876543210'),
  };
  t.same(
    [...expandPrompt(template, inputs, MAX_BYTES)],
    [
      ['seed', '12345678901234567890'],
      ['big', '98765432109876543210'],
    ],
  );
});

t.test('variables are listed with type and place, each once, in the order of the text', async (t) => {
  const body = { b: ['{{z}}', { 'x y': '{{a:number}}{{z:json}}' }], a: '{{hc:c:boolean}}{{größe}}' };
  t.same(parsePrompt(JSON.stringify(body)).variables, [
    { name: 'z', type: 'json', place: 'b[0]' },
    { name: 'a', type: 'number', place: 'b[1]["x y"]' },
    { name: 'c', type: 'boolean', place: 'a' },
    { name: 'größe', type: null, place: 'a' },
  ]);
});

t.test('missing variables and wrong types are named with their places, all in one sentence', async (t) => {
  const body = {
    messages: [{ content: '{{a}} {{b:number}}' }, { content: '{{c:boolean}} {{d:string}} {{e:json}} {{f}}' }],
  };
  t.equal(
    refusal(() => expand(body, { b: '5', c: 'yes', d: 5, f: { x: 1 } })),
    'invalid_body: inputs.a is missing (used in messages[0].content); ' +
      'inputs.b must be a number, but is "5" (used in messages[0].content); ' +
      'inputs.c must be true or false, but is "yes" (used in messages[1].content); ' +
      'inputs.d must be a string, but is 5 (used in messages[1].content); ' +
      'inputs.e is missing (used in messages[1].content); ' +
      'inputs.f must be a string, a number or a boolean, but is {"x":1} (used in messages[1].content)',
  );
  t.match(
    refusal(() => expand({ a: '{{toString}}{{__proto__:json}}' })),
    /toString is missing.*__proto__ is missing/,
  );
  const many = Array.from({ length: 400 }, (_, index) => `{{v${index}}}`).join('');
  const sentence = refusal(() => expand({ many }));
  t.match(
    sentence,
    /inputs\.v9 is missing \(used in many\); and 390 more variables are missing or have the wrong type$/,
  );
  t.ok(sentence.length < 1_000);
});

t.test('a prompt that cannot be stored is refused with the place and the rule', async (t) => {
  const cases: [string, RegExp][] = [
    ['{', /^invalid_json: The body of the prompt is not valid JSON$/],
    ['[]', /^invalid_body: The body of a prompt must be a JSON object$/],
    ['12345678901234567890', /must be a JSON object$/],
    [
      '{"a":"{{x:number}}","b":["{{x}}","{{ x:json }}"]}',
      /^invalid_body: The variable x has two types: number in a, and json in b\[1\]$/,
    ],
    [
      '{"a":["{{x:date}}"]}',
      /^invalid_body: a\[0\] declares .* x with the type "date"; types are string, number, boolean, json$/,
    ],
    [
      JSON.stringify({ a: Array.from({ length: 501 }, (_, n) => `{{v${n}}}`) }),
      /^invalid_body: a\[500\] .* at most 500$/,
    ],
    [
      JSON.stringify({ a: '{{x}}'.repeat(9_999), b: ['{{x}} {{x}}'] }),
      /^invalid_body: b\[0\] has the placeholder 10001, but a prompt has at most 10000$/,
    ],
    [`{"a":${'['.repeat(600)}${']'.repeat(600)}}`, /nested at most 512 levels deep$/],
    [`{"a":${'['.repeat(15_000)}1e999${']'.repeat(15_000)}}`, /nested at most 512 levels deep$/],
    [`{${Array.from({ length: 101 }, (_, n) => `"m${n}":1`).join()}}`, /at most 100 fields, but holds 101$/],
    [`{"a":[${Array(20_000).fill('0').join()}]}`, /at most 20000 values, but holds 20002$/],
    ['{"größe":1}', /name of 1 to 100 ASCII characters .* "größe"$/],
    [
      '{"inputs":{}}',
      /^invalid_body: inputs belongs to the calls of a prompt, and cannot be stored in its body$/,
    ],
    ['{"prompt_id":"x"}', /^invalid_body: prompt_id belongs/],
    ['{"":1}', /name of 1 to 100 ASCII characters/],
  ];
  for (const [text, expected] of cases)
    t.match(
      refusal(() => parsePrompt(text)),
      expected,
      text.slice(0, 60),
    );
});

t.test('an expansion beyond the limit of a body is refused before it is built', async (t) => {
  const body = { a: '{{x}}'.repeat(10_000) };
  t.match(
    refusal(() => expand(body, { x: 'x'.repeat(1_000_000) }, 32_000_000)),
    /^body_too_large: .* 32000000 bytes/,
  );
  t.equal(
    refusal(() => expand({ a: '{{x}}' }, { x: 'abc' }, 5)),
    'accepted',
    'the quotes count',
  );
  t.match(
    refusal(() => expand({ a: '{{x}}' }, { x: 'abc' }, 4)),
    /^body_too_large/,
  );
});

t.test('any text survives as an input, and as the text around it', async (t) => {
  const text = fc.string({ unit: anyCharacter, maxLength: 30 });
  const free = text.map((value) => value.replaceAll('{', '').replaceAll('}', ''));
  fc.assert(
    fc.property(free, text, free, (before, value, after) => {
      const body = { a: [`${before}{{x}}${after}`], b: '{{x}}' };
      t.same(expand(body, { x: value }), { a: [`${before}${value}${after}`], b: value });
    }),
  );
});

t.test('any JSON value survives as a json input, and any body without placeholders as itself', async (t) => {
  // JSON has one zero without a sign.
  const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);
  fc.assert(
    fc.property(json, (value) => {
      t.same(expand({ a: { b: '{{x:json}}' } }, { x: value }), { a: { b: value } });
      if (!JSON.stringify(value).includes('{{')) t.same(expand({ a: value }), { a: value });
    }),
  );
});

t.test('texts full of braces and spaces take time in proportion to their length', async (t) => {
  const shapes = ['{{', '{{ ', '{{a ', '{{a:', '{{hc:', '{', '}', '{{a:b '];
  for (const shape of shapes) {
    // In quadratic time, each of these would take minutes.
    const text = JSON.stringify({ a: shape.repeat(200_000) + ' '.repeat(200_000) });
    t.same(parsePrompt(text).variables, [], JSON.stringify(shape));
  }
});
