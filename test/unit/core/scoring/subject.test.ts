/** The subject of a record: its question, what is skipped, and any JSON. */
import fc from 'fast-check';
import t from 'tap';
import { parseTemplate, readSubject, renderTemplate, type StoredRecord } from '#core/scoring/mod.ts';
import { anyCharacter } from '../../../support/any-character.ts';
import { runs } from '../../../support/fuzz-runs.ts';
import { ANSWER, call, inputOf, outputOf, QUESTION } from './records.ts';

t.test('the subject of a chat completion has its question, its answer and both bodies', async (t) => {
  t.same(readSubject(call(QUESTION, ANSWER, { inputs: '{"a": 1}', properties: { plan: 'pro' } })), {
    requestId: '01JAZZ0000000000000000000A',
    input: 'What is 2 + 2?',
    output: '4',
    request: QUESTION,
    response: ANSWER,
    inputs: { a: 1 },
    properties: { plan: 'pro' },
    model: 'gpt-4o',
  });
});

t.test("the subject's input is the text of the last user message, in every dialect", async (t) => {
  const user = (content: unknown) => ({ role: 'user', content });
  const cases: [string, unknown, string][] = [
    ['of several', { messages: [user('a'), { role: 'assistant', content: 'b' }, user('c')] }, 'c'],
    [
      'before the assistant begins the answer',
      { messages: [user('a'), { role: 'assistant', content: '{' }] },
      'a',
    ],
    ['after which a tool answered', { messages: [user('a'), { role: 'tool', content: 'b' }] }, 'a'],
    [
      'in parts',
      {
        messages: [
          user([
            { type: 'text', text: 'a' },
            { type: 'image_url', image_url: {} },
            { type: 'text', text: 'b' },
          ]),
        ],
      },
      'a\nb',
    ],
    [
      'where the last one is an image alone',
      { messages: [user('a'), user([{ type: 'image_url', image_url: {} }])] },
      'a',
    ],
    [
      "Anthropic's, behind a tool's result",
      { system: 's', messages: [user('a'), user([{ type: 'tool_result', content: 'r' }])] },
      'a',
    ],
    ["the Responses API's text", { input: 'a', instructions: 'i' }, 'a'],
    [
      "the Responses API's items",
      {
        input: [
          { role: 'developer', content: 'd' },
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a' }] },
        ],
      },
      'a',
    ],
    ['of a completion', { prompt: 'a' }, 'a'],
    ['of completions', { prompt: ['a', 'b'] }, 'a\nb'],
    ['of embeddings', { input: ['a', 'b'] }, 'a\nb'],
    [
      "Gemini's",
      {
        contents: [
          { role: 'user', parts: [{ text: 'a' }] },
          { role: 'model', parts: [{ text: 'b' }] },
        ],
      },
      'a',
    ],
    ["Gemini's without a role", { contents: [{ parts: [{ text: 'a' }] }] }, 'a'],
    ['of a body that is no JSON object', { text: 'a plain text' }, 'a plain text'],
  ];
  for (const [name, request, expected] of cases) t.equal(inputOf(request), expected, name);
});

t.test("the subject's input is the request body when no user message has text", async (t) => {
  for (const text of [
    '{"messages":[{"role":"system","content":"a"}]}',
    '{"prompt":[1,2,3]}',
    '{"messages":"a"}',
    '{"messages":[null,7,{"role":"user"}]}',
    '{"messages":[{"role":"user","content":"  "}]}',
    '{"x":{"y":1}}',
    '[1,2]',
    '42',
  ]) {
    t.equal(inputOf(text), text);
  }
  t.equal(inputOf('not JSON'), 'not JSON');
  t.equal(inputOf('"a JSON string"'), 'a JSON string');
});

t.test('a record without a complete, successful answer is skipped with the reason', async (t) => {
  const cases: [string, StoredRecord, string][] = [
    [
      'a call that was interrupted',
      call(QUESTION, '{}', { status: 0, truncated: true, errorCode: 'interrupted' }),
      'interrupted',
    ],
    ['a call whose gateway was killed', call(QUESTION, '{}', { status: 0 }), 'interrupted'],
    ["a provider's error", call(QUESTION, { error: { message: 'x' } }, { status: 500 }), 'upstream_error'],
    ['a limit', call(QUESTION, { error: { message: 'x' } }, { status: 429 }), 'upstream_error'],
    [
      'a provider that could not be reached',
      call(QUESTION, ANSWER, { status: 502, truncated: true, errorCode: 'provider_unreachable' }),
      'upstream_error',
    ],
    ['a redirect', call(QUESTION, '{}', { status: 302 }), 'upstream_error'],
    ['an error under a status of success', call(QUESTION, { error: { message: 'x' } }), 'upstream_error'],
    [
      'an error as a text under a status of success',
      call(QUESTION, { error: 'x', choices: null }),
      'upstream_error',
    ],
    ['a stream that broke off', call(QUESTION, ANSWER, { truncated: true }), 'truncated'],
    [
      'a stream whose client left',
      call(QUESTION, ANSWER, { status: 499, truncated: true, errorCode: 'client_closed_request' }),
      'truncated',
    ],
    [
      'a stream whose client left, as somebody else logged it',
      call(QUESTION, ANSWER, { status: 499 }),
      'truncated',
    ],
    ['an answer that was left out', call(QUESTION, '{}'), 'body_omitted'],
    ['a question that was left out', call('{}', ANSWER), 'body_omitted'],
    ['an answer without a body', call(QUESTION, ''), 'body_omitted'],
  ];
  for (const [name, stored, expected] of cases) {
    const skip = readSubject(stored);
    t.match(skip, { skipped: expected, message: /^.{10,200}$/ }, name);
  }
  t.equal(outputOf({ ...ANSWER, error: null }), '4', 'an error of null is none');
  t.equal(outputOf({ ...ANSWER, error: {} }), '4', 'an answer beside an error is an answer');
});

/** JSON that resembles bodies: their member names around any values. */
const names = fc.constantFrom(
  ...[
    'messages',
    'choices',
    'message',
    'content',
    'role',
    'text',
    'output',
    'input',
    'prompt',
    'parts',
    'candidates',
  ],
  ...[
    'tool_calls',
    'function',
    'name',
    'arguments',
    'refusal',
    'audio',
    'error',
    'contents',
    'type',
    'function_call',
    '__proto__',
  ],
);
const { body } = fc.letrec((tie) => ({
  body: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.constantFrom(null, true, 0, '', 'user', 'tool_use', 'message', 'x'),
    fc.array(tie('body'), { maxLength: 3 }),
    fc.array(fc.tuple(names, tie('body')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
  ),
}));

t.test('readSubject never throws, whatever JSON the bodies hold', async (t) => {
  const isRead = (request: string, response: string): boolean => {
    const subject = readSubject(call(request, response));
    return 'skipped' in subject || (typeof subject.input === 'string' && typeof subject.output === 'string');
  };
  fc.assert(
    fc.property(body, body, (request, response) => isRead(JSON.stringify(request), JSON.stringify(response))),
    runs(t, 2_000),
  );
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), fc.json(), isRead));
  t.ok(true);
});

t.test('readSubject reads bodies that are nested deeply', async (t) => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const given = `{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":${deep}}}]}}]}`;
  t.match(outputOf(given), /^f\(.*\)$/);
  const question = `{"messages":[{"role":"user","content":${deep}}]}`;
  t.equal(inputOf(question), question);
});

t.test('a prompt gets the numbers of bodies and inputs with all of their digits', async (t) => {
  const order = '{"order":9007199254740993}';
  const subject = readSubject(call(`{"messages":[],"metadata":${order}}`, ANSWER, { inputs: order }));
  if ('skipped' in subject) throw new Error(subject.message);
  const template = parseTemplate('{{inputs.order}} {{request.metadata}} {{output}}');
  t.equal(renderTemplate(template, subject).text, `9007199254740993 ${order} "4"`);
});
