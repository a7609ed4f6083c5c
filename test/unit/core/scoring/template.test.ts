import fc from 'fast-check';
import t from 'tap';
import { AssayError } from '#core/contracts/errors.ts';
import { parseTemplate, renderTemplate, type Subject } from '#core/scoring/mod.ts';
import { anyCharacter } from '../../../support/any-character.ts';

const SUBJECT: Subject = {
  requestId: 'r',
  input: 'What is 2 + 2?',
  output: 'It is "4".\nBye',
  request: {
    model: 'gpt-4o',
    messages: [
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
    ],
    temperature: 0.5,
  },
  response: { choices: [{ message: { content: null, tool_calls: [] } }], usage: { total_tokens: 7 } },
  inputs: { tone: 'formal', 'user.name': 'Ann', user: { name: 'Bob', age: 7 } },
  properties: { plan: 'pro', 'team name': 'blue' },
  model: 'gpt-4o',
};

const render = (prompt: string, subject: Subject = SUBJECT, max?: number) =>
  renderTemplate(parseTemplate(prompt), subject, max).text;

function refusal(prompt: string): string {
  try {
    parseTemplate(prompt);
  } catch (error) {
    if (error instanceof AssayError && error.code === 'invalid_body') return error.message;
    throw error;
  }
  return 'accepted';
}

t.test('each variable of a prompt is replaced by its value as JSON', async (t) => {
  const cases: [string, string][] = [
    ['{{input}}', '"What is 2 + 2?"'],
    ['{{ output }}', '"It is \\"4\\".\\nBye"'],
    ['{{inputs.tone}}', '"formal"'],
    ['{{inputs.user.name}}', '"Ann"'],
    ['{{inputs.user.age}}', '7'],
    ['{{inputs.user}}', '{"name":"Bob","age":7}'],
    ['{{request.model}}', '"gpt-4o"'],
    ['{{request.messages.0.content}}', '"Be brief"'],
    ['{{request.messages.1.content.0.text}}', '"hi"'],
    ['{{request.temperature}}', '0.5'],
    ['{{response.choices.0.message}}', '{"content":null,"tool_calls":[]}'],
    ['{{response.usage.total_tokens}}', '7'],
    ['{{properties.plan}}', '"pro"'],
    ['{{properties.Plan}}', '"pro"'],
    ['{{properties.Team Name}}', '"blue"'],
  ];
  for (const [prompt, expected] of cases) t.equal(render(`<${prompt}>`), `<${expected}>`, prompt);
});

t.test('a variable that the record does not have is written as null', async (t) => {
  for (const path of [
    'inputs.nobody',
    'inputs.tone.length',
    'inputs.constructor',
    'inputs.__proto__',
    'properties.toString',
    'request.messages.7.content',
    'request.messages.-1',
    'request.messages.01',
    'request.messages.length',
    'request.messages.map',
    'request.model.0',
    'response.a.b.c.d',
  ]) {
    t.equal(render(`{{${path}}}`), 'null', path);
  }
  const bare = { ...SUBJECT, request: null, response: [1, { a: 2 }], inputs: {}, properties: {} };
  t.equal(render('{{request.model}} {{response.1.a}} {{inputs.x}}', bare), 'null 2 null');
});

t.test('a prompt without variables gets input and output appended', async (t) => {
  t.equal(
    render('Is this answer polite?\n'),
    'Is this answer polite?\n\nInput:\n"What is 2 + 2?"\n\nOutput to evaluate:\n"It is \\"4\\".\\nBye"\n',
  );
  t.same(parseTemplate('Is it }} polite { ?').variables, ['input', 'output']);
  t.same(parseTemplate('{{output}} {{inputs.tone}} {{output}}').variables, ['output', 'inputs.tone']);
});

t.test('a prompt may name the expected answer, or a part of it; what is not known is missing', async (t) => {
  const known = { ...SUBJECT, expected: { city: 'Paris', all: [null, '</x>'] } };
  t.equal(render('{{expected.city}} {{expected.all.0}} {{expected.all.1}}', known), '"Paris" null "<\\/x>"');
  t.equal(render('{{expected}}', known), '{"city":"Paris","all":[null,"<\\/x>"]}');
  const { missing } = renderTemplate(parseTemplate('{{expected}} {{expected.city}}'), SUBJECT);
  t.same(missing, ['expected', 'expected.city']);
});

t.test('an invalid prompt is refused with a sentence that names the rule', async (t) => {
  const allowed =
    'allowed are {{input}}, {{output}}, {{inputs.<name>}}, {{request.<path>}}, {{response.<path>}}, {{properties.<name>}}, {{expected}}, {{expected.<path>}}';
  const unknown = (variable: string) => `prompt names the unknown variable "{{${variable}}}"; ${allowed}`;
  for (const variable of [
    '',
    'answer',
    'Input',
    'inputs',
    'inputs.',
    'request',
    'request.',
    'request..model',
    'response.choices.',
    'property.plan',
    'input.x',
    'requests.model',
    '#if input',
    '{input',
  ]) {
    t.equal(refusal(`Judge {{${variable}}} now`), unknown(variable), variable);
  }
  t.equal(refusal(''), 'prompt must not be empty');
  t.equal(refusal(' \n\t'), 'prompt must not be empty');
  t.match(refusal('Judge {{output'), 'prompt has "{{" without "}}" at character 7: "{{output"');
  t.match(refusal('{{input}} and {{output}'), 'at character 15');
  t.equal(refusal('x'.repeat(65_536)), 'accepted');
  t.equal(refusal('é'.repeat(32_769)), 'prompt must have at most 65536 bytes as UTF-8, but has 65538');
  t.match(refusal('{{input}}'.repeat(101)), 'at most 100 variables, but holds 101');
  t.match(refusal(`{{${'x'.repeat(5_000)}}}`), /^.{0,400}$/);
});

t.test('a value can neither name a variable nor close a tag of the prompt', async (t) => {
  const output = '{{input}} </answer> ``` """ \u2028 {{inputs.tone}} }}';
  const text = render('<answer>{{output}}</answer>', { ...SUBJECT, output });
  t.equal(text.indexOf('</answer>'), text.length - '</answer>'.length);
  t.equal(text.includes('\u2028'), false);
  t.equal(JSON.parse(text.slice('<answer>'.length, -'</answer>'.length)), output);
});

const odd = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 40 }),
  fc.constantFrom('{{input}}', '{{output}}', '</a>', '"', '\\', '\\"', '}}', '{{', '\0', '\ud800', '\u2028'),
);
const value = fc.array(odd, { maxLength: 8 }).map((parts) => parts.join(''));
/** The text as Postgres can store it, as stored texts already are. */
const stored = (text: string) => text.toWellFormed().replaceAll('\0', '\ufffd');

t.test('no value changes the rest of the prompt, and each can be parsed back from it', async (t) => {
  fc.assert(
    fc.property(value, value, fc.jsonValue(), (input, output, response) => {
      const subject = { ...SUBJECT, input, output, response: { x: response } };
      const text = render(
        '<a>{{input}}</a><b>{{output}}</b><c>{{response.x}}</c><d>{{inputs.tone}}</d>',
        subject,
      );
      const parts = /^<a>(.*?)<\/a><b>(.*?)<\/b><c>(.*?)<\/c><d>"formal"<\/d>$/su.exec(text);
      t.ok(parts);
      t.equal(JSON.parse(parts![1]!), stored(input));
      t.equal(JSON.parse(parts![2]!), stored(output));
      t.same(
        JSON.stringify(JSON.parse(parts![3]!)),
        stored(JSON.stringify(JSON.parse(JSON.stringify(response)))),
      );
    }),
    { numRuns: 300 },
  );
});

t.test('when all values together are too large, the largest lose their middle', async (t) => {
  const input = `A${'x'.repeat(50_000)}Z`;
  const output = `B${'y'.repeat(50_000)}Y`;
  const { text, truncated } = renderTemplate(
    parseTemplate('{{input}} {{output}} {{inputs.tone}}'),
    { ...SUBJECT, input, output },
    10_000,
  );
  t.equal(truncated, true);
  t.ok(text.length < 10_200 && text.length > 9_000, String(text.length));
  t.match(
    text,
    /^"Ax+\\n\[… \d+ characters left out here …\]\\nx+Z" "By+\\n\[… \d+ characters left out here …\]\\ny+Y" "formal"$/,
  );
  t.equal(renderTemplate(parseTemplate('{{input}}'), SUBJECT).truncated, false);
});

t.test('a cut value is still JSON and within its bound, whatever it holds', async (t) => {
  const long = fc.tuple(value, fc.nat(400)).map(([text, times]) => text.repeat(times));
  const template = parseTemplate('{{input}}<|>{{response.x}}');
  let cuts = 0;
  fc.assert(
    fc.property(long, fc.oneof(long, fc.jsonValue()), fc.integer({ min: 0, max: 3_000 }), (input, x, max) => {
      const subject = { ...SUBJECT, input, response: { x } };
      const { text, truncated } = renderTemplate(template, subject, max);
      cuts += truncated ? 1 : 0;
      const [first, second] = text.split('<|>');
      JSON.parse(first!);
      JSON.parse(second!);
      const isWhole = text === renderTemplate(template, subject).text;
      // A cut may add one marker.
      return truncated !== isWhole && (isWhole || text.length <= max + '<|>'.length + 2 * 64);
    }),
    { numRuns: 300 },
  );
  t.ok(cuts > 50, `${cuts} values were cut`);
});

t.test(
  'a variable that a prompt names a hundred times is serialized once, also for a body of 20 MB',
  async (t) => {
    const subject = {
      ...SUBJECT,
      request: { messages: Array.from({ length: 20 }, () => 'x'.repeat(1_000_000)) },
    };
    const startedMs = performance.now();
    const text = render('{{request.messages}}'.repeat(100), subject);
    t.ok(text.length < 210_000);
    t.ok(performance.now() - startedMs < 2_000);
  },
);

t.test('once the values are very long, objects and lists are left out, and texts are not', async (t) => {
  const large = Array.from({ length: 20 }, () => 'x'.repeat(1_000_000));
  const subject = { ...SUBJECT, request: { a: { b: { c: [large, { city: 'Paris' }] } } } };
  const prompt =
    '{{request.a}}<|>{{request.a.b}}<|>{{request.a.b.c}}<|>{{output}}<|>{{request.a.b.c.1.city}}';
  const { text, truncated } = renderTemplate(parseTemplate(prompt), subject);
  const [first, second, third, ...texts] = text.split('<|>').map((json) => JSON.parse(json) as string);
  t.match(first, /^\{"b":\{"c":.* characters left out here …\]/s);
  t.match(second, /^\{"c":.* characters left out here …\]/s);
  t.equal(third, '[… left out here: the values before this one are too large …]');
  t.strictSame(texts, [SUBJECT.output, 'Paris']);
  t.equal(truncated, true);
  const alone = renderTemplate(parseTemplate('{{request.a.b.c}}'), subject).text;
  t.match(alone, / characters left out here …/, 'one value is never left out');
});

t.test('a body that is nested too deep to be serialized is written as far as possible', async (t) => {
  const deep: unknown = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
  t.match(render('{{response.x}}', { ...SUBJECT, response: { x: deep } }), /^\[+null\]+$/);
});
