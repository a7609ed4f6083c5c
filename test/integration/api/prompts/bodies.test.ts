/** The body of a prompt: stored as it is written, checked as the gateway will read it. */
import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { ask, create, type NewPrompt, PATH, type ShownVersion, version } from './world.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});

let names = 0;

/** Sends the JSON text of a body. */
function send(promptBody: string, path = PATH, rest = '') {
  names += 1;
  const named = path === PATH ? `"name":"body ${names}","tags":[],` : '';
  return api.call(path, { raw: `{${named}${rest}"promptBody":${promptBody}}` });
}

async function store(promptBody: string): Promise<NewPrompt> {
  const answer = await send(promptBody);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.data as NewPrompt;
}

/** Returns the text of the body in an answer of the second form. */
async function textOf(promptVersionId: string): Promise<string> {
  const { text } = await api.call('/v2/prompt-2025/query/version', { body: { promptVersionId } });
  return /"prompt_body":(.*)\},"error":null\}$/s.exec(text)![1]!;
}

t.test('a body comes back byte for byte', async (t) => {
  const BODIES = [
    '{}',
    '{"z":1,"a":2,"2":"b","1":"a"}',
    '{"seed":12345678901234567890,"temperature":0.10,"big":1e400,"minus":-0.0}',
    '{ "messages" : [\n\t{"role":"user","content":"Grüße 😀 \\u0000 \\ud800 \\/ {{x}}"}\n] }',
    '{"__proto__":{"a":1},"constructor":"b","messages":[]}',
    `{"tools":[{"type":"function","function":{"parameters":${'{"p":'.repeat(200)}1${'}'.repeat(200)}}}]}`,
    // Large enough to be read in slices.
    `{"messages":[{"content":"${'long {{x}} '.repeat(5_000)}${'long '.repeat(20_000)}"}],"seed":12345678901234567890}`,
  ];
  for (const body of BODIES) {
    const { versionId } = await store(body);
    t.equal(await textOf(versionId), body);
    const { prompt_body, s3_url } = await version(api, versionId);
    t.same(prompt_body, JSON.parse(body));
    t.equal(await (await fetch(s3_url)).text(), body, 'and so does the URL of the first form');
  }
});

t.test('the body of an update comes back byte for byte', async (t) => {
  const { id, versionId } = await create(api);
  const body = '{"seed": 12345678901234567890}';
  const ids = `"promptId":"${id}","promptVersionId":"${versionId}",`;
  const answer = await send(body, `${PATH}/update`, ids);
  t.equal(await textOf((answer.body.data as { id: string }).id), body);
});

t.test('all three queries for a version have a second form, with the body and without its URL', async (t) => {
  const { id: promptId, versionId: promptVersionId } = await create(api);
  const QUERIES: [path: string, body: object][] = [
    ['version', { promptVersionId }],
    ['environment-version', { promptId, environment: 'production' }],
    ['production-version', { promptId }],
  ];
  for (const [name, body] of QUERIES) {
    const { s3_url, ...first } = await ask<ShownVersion>(api, `${PATH}/query/${name}`, body);
    t.ok(s3_url, name);
    t.same(await ask(api, `/v2/prompt-2025/query/${name}`, body), first, name);
  }
});

t.test('a version shows the variables of its texts, at any depth, once each', async (t) => {
  const body = {
    model: '{{model}}',
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Hi {{name}}, {{hc:age:number}} {{name}}' }] },
    ],
    tools: [{ function: { parameters: { required: '{{fields:json}}' } } }],
    response_format: { strict: '{{ strict : boolean }}', plain: '{{who:string}}' },
  };
  const { id, versionId } = await create(api, { promptBody: body });
  const variables = [
    { name: 'model', type: null },
    { name: 'name', type: null },
    { name: 'age', type: 'number' },
    { name: 'fields', type: 'json' },
    { name: 'strict', type: 'boolean' },
    { name: 'who', type: 'string' },
  ];
  t.match(await version(api, versionId), { model: '{{model}}', variables });
  const [listed] = await ask<ShownVersion[]>(api, `${PATH}/query/versions`, { promptId: id });
  t.same(listed?.variables, variables);
});

const field = (text: string) => `{"messages":[{"content":"${text}"}]}`;

/** The text of a body that is refused, and its sentence. */
const REFUSED: [what: string, promptBody: string, sentence: string][] = [
  ['null', 'null', 'promptBody must be an object, but is null'],
  ['a list', '[]', 'promptBody must be an object, but is []'],
  ['a text', '"{}"', 'promptBody must be an object, but is "{}"'],
  ['messages that are no list', '{"messages":"Hi"}', 'promptBody.messages must be an array, but is "Hi"'],
  ['a message that is a text', '{"messages":["Hi"]}', 'promptBody.messages.0 must be an object, but is "Hi"'],
  ['a model that is a number', '{"model":1}', 'promptBody.model must be a string, but is 1'],
  ['an empty model', '{"model":""}', 'promptBody.model must not be empty'],
  [
    'an unknown type',
    field('{{age:int}}'),
    'messages[0].content declares the variable age with the type "int"; types are string, number, boolean, json',
  ],
  [
    'two types of one variable',
    field('{{a:number}} {{a:json}}'),
    'The variable a has two types: number in messages[0].content, and json in messages[0].content',
  ],
  [
    '501 variables',
    field(Array.from({ length: 501 }, (_, index) => `{{v${index}}}`).join('')),
    'messages[0].content names the variable v500, but a prompt has at most 500',
  ],
  [
    '10,001 placeholders',
    field('{{x}}'.repeat(10_001)),
    'messages[0].content has the placeholder 10001, but a prompt has at most 10000',
  ],
  [
    'a name that occurs twice within it',
    '{"messages":[{"content":"a","content":"b"}]}',
    'The body names "content" twice in one object: only one of them could count',
  ],
  [
    'a name that occurs twice within a large body',
    `{"messages":[{"content":"a","content":"${'b'.repeat(70_000)}"}]}`,
    'The body names "content" twice in one object: only one of them could count',
  ],
  [
    '513 levels within a member',
    `{"a":${'['.repeat(513)}${']'.repeat(513)}}`,
    'The body of a prompt may be nested at most 512 levels deep',
  ],
  [
    '200,000 levels',
    `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
    'The body is nested deeper than 100000 levels',
  ],
  [
    '40,000 values',
    `{"a":[${'1,'.repeat(40_000)}1]}`,
    'The body holds 40006 values, of which at most 20000 are allowed',
  ],
  ...['prompt_id', 'version_id', 'environment', 'inputs'].map((name): [string, string, string] => [
    name,
    `{"${name}":null}`,
    `${name} belongs to the calls of a prompt, and cannot be stored in its body`,
  ]),
];

t.test(
  'a body that the gateway could not expand is refused with its reason, and nothing is stored',
  async (t) => {
    const before = await ask(api, `${PATH}/count`);
    for (const [what, promptBody, sentence] of REFUSED) {
      const { status, body } = await send(promptBody);
      t.strictSame([status, body], [400, { data: null, error: sentence }], what);
    }
    const tooLarge = await send(`{"a":"${'x'.repeat(1024 * 1024)}"}`);
    t.equal(tooLarge.status, 413);
    t.equal(await ask(api, `${PATH}/count`), before);
  },
);
