import { readFileSync } from 'node:fs';
import t from 'tap';
import { assembleStream } from '#core/chat/mod.ts';
import type { ConversationPage, Part } from '../../../../../../dashboard/parts/conversation/model/types.ts';
import { Bodies } from '../../../../../../dashboard/parts/record/bodies.ts';

const FIXTURES = new URL('../../../../../support/fixtures/gateway/', import.meta.url);

type Fixture = {
  call: { body: unknown };
  answer: { status: number; body: { json?: unknown; text?: string; events?: object[] } };
};

function textOfEvents(events: readonly object[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
}

/** Returns the bodies that a provider's fixture is logged with. */
function bodiesOf(name: string): Bodies {
  const { call, answer } = JSON.parse(
    readFileSync(new URL(`providers/${name}.json`, FIXTURES), 'utf8'),
  ) as Fixture;
  const { json, text, events } = answer.body;
  const response =
    events !== undefined ? assembleStream(textOfEvents(events)).completion : (json ?? JSON.parse(text!));
  return new Bodies({ request: call.body, response, status: answer.status });
}

/** Writes a part as a short text. */
function written(part: Part): string {
  if ('text' in part) return `${part.kind}: ${part.text.text}`;
  if (part.kind === 'tool-call') return `call: ${part.name}`;
  if (part.kind === 'tool-result') return `result: ${part.parts.map(written).join(' ')}`;
  if (part.kind === 'chip') return `${part.label}: ${part.detail}`;
  return part.kind === 'remote-image' ? `remote: ${part.address}` : part.kind;
}

function shown({ messages }: ConversationPage): string[] {
  return messages.map(({ role, detail, parts }) =>
    [role, detail === null ? '' : ` (${detail})`, ' ', parts.map(written).join(' + ')].join(''),
  );
}

const PROVIDERS = {
  'deepseek/chat': ['assistant (stop) thinking: Blue is common. + text: Blue'],
  'openai/chat-stream': ['assistant (stop) text: Blue'],
  'mistral/thinking-stream': /^assistant \(stop\) thinking: Six sevens/,
  'groq/responses': ['assistant thinking: Blue is common.', 'assistant text: Blue'],
  'openai/responses-stream': ['assistant text: Blue'],
  'anthropic/messages-stream': ['assistant (end_turn) text: Blue'],
  'azure/completions': ['assistant (stop) text:  blue.'],
  'openai/embeddings': ['assistant Embeddings: 2 vectors of 2 numbers'],
};

for (const [name, expected] of Object.entries(PROVIDERS)) {
  t.test(`the fixture ${name} is shown as the conversation it is`, async (t) => {
    const bodies = bodiesOf(name);
    const answers = shown(bodies.conversation('response', 0, 30));
    if (expected instanceof RegExp) t.match(answers[0], expected);
    else t.same(answers, expected);
    t.match(shown(bodies.conversation('request', 0, 30)).at(-1), /^user text: /);
  });
}

t.test("Anthropic's tool use is shown with its arguments as a tree", async (t) => {
  const stream = readFileSync(new URL('streams/tool-use.anthropic.sse', FIXTURES), 'utf8');
  const bodies = new Bodies({ request: {}, response: assembleStream(stream).completion, status: 200 });
  const [message] = bodies.conversation('response', 0, 30).messages;
  const call = message!.parts.find((part) => part.kind === 'tool-call');
  t.ok(call !== undefined);
  t.equal(call!.given.node.type, 'object');
  t.ok(bodies.children(call!.given.path, 0, 10).total > 0);
});

t.test('an error is a notice in the words of the provider, whatever its shape and status', async (t) => {
  t.match(bodiesOf('openrouter/error-with-200').conversation('response', 0, 30).notice, {
    title: 'The provider told an error',
    detail: 'Provider returned error',
  });
  const notice = (response: unknown) =>
    new Bodies({ request: {}, response, status: 429 }).conversation('response', 0, 1).notice;
  for (const body of [
    { error: { message: 'Slow down' } },
    { error: 'Slow down' },
    { message: 'Slow down' },
    { detail: 'Slow down' },
    { text: 'Slow down' },
  ])
    t.match(notice(body), { title: 'The call was answered with status 429', detail: 'Slow down' });
  t.match(
    notice({ error: { message: 'Slow down', type: 'rate_limit', code: 'r' } })!.detail,
    '(rate_limit, r)',
  );
  t.match(notice({}), { detail: null });
});

const request = (messages: unknown[], more: object = {}) =>
  new Bodies({ request: { messages, ...more }, response: {}, status: 200 });

t.test('images, audio, files, refusals and results of tools are named for what they are', async (t) => {
  const content = [
    { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' } },
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
    { type: 'input_file', filename: 'a.pdf', file_data: 'AAAA' },
    { type: 'refusal', refusal: 'No.' },
    { type: 'tool_result', tool_use_id: 't', is_error: true, content: [{ type: 'text', text: 'failed' }] },
    { inlineData: { mimeType: 'image/webp', data: 'AAAA' } },
    { functionResponse: { name: 'f', response: { a: 1 } } },
    { odd: true },
    5,
  ];
  t.same(shown(request([{ role: 'user', content }]).conversation('request', 0, 1)), [
    'user remote: https://example.com/a.png + image + image + Audio: wav, 1 KiB + File: a.pdf, 1 KiB + refusal: No. + result: text: failed + image + result: data + data + data',
  ]);
});

t.test('chat completions call tools by strings of JSON, which are trees where they are JSON', async (t) => {
  const calls = ['{"city":"Rome"}', '{"city":', '5'].map((given) => ({
    id: 'c',
    function: { name: 'f', arguments: given },
  }));
  const page = request([{ role: 'assistant', content: null, tool_calls: calls }]).conversation(
    'request',
    0,
    1,
  );
  const types = page.messages[0]!.parts.map((part) =>
    part.kind === 'tool-call' ? part.given.node.type : part.kind,
  );
  t.same(types, ['object', 'string', 'string']);
});

t.test('64-bit ids in arguments and results of tools keep their digits', async (t) => {
  const text = '{"id":1234567890123456789}';
  const bodies = request([
    { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: text } }] },
    { role: 'tool', tool_call_id: 'c', content: text },
  ]);
  const parts = bodies.conversation('request', 0, 2).messages.flatMap((message) => message.parts);
  const roots = parts.map((part) => {
    if (part.kind === 'tool-call') return part.given;
    const [data] = part.kind === 'tool-result' ? part.parts : [];
    return data?.kind === 'data' ? data.root : null;
  });
  t.same(
    roots.map((root) => bodies.children(root!.path, 0, 1).nodes[0]?.text),
    ['1234567890123456789', '1234567890123456789'],
  );
});

t.test('a long text comes by its beginning, and the rest of it by its path', async (t) => {
  const text = 'abc'.repeat(100_000);
  const bodies = request([{ role: 'user', content: text }]);
  const [part] = bodies.conversation('request', 0, 1).messages[0]!.parts;
  t.ok(part?.kind === 'text');
  if (part?.kind !== 'text') return;
  t.equal(part.text.text.length, 4_000);
  t.equal(part.text.length, text.length);
  const again = request([{ role: 'user', content: text }]);
  t.equal(
    again.text(part.text.path, 4_000, 4_010).text,
    text.slice(4_000, 4_010),
    'also of a record that was fetched again',
  );
});

t.test('a page of a conversation is bounded, however much its messages hold', async (t) => {
  const content = Array.from({ length: 1_000 }, () => ({ type: 'text', text: 'x'.repeat(10_000) }));
  const page = request(Array.from({ length: 1_000 }, () => ({ role: 'user', content }))).conversation(
    'request',
    0,
    30,
  );
  t.equal(page.total, 1_000);
  t.equal(page.messages.length, 30);
  t.ok(JSON.stringify(page).length < 4_000_000);
  t.match(page.messages[0]!.parts.at(-1), { kind: 'data', label: '800 more parts' });
});

t.test('tools are told by their names, and everything else of a body is a tree', async (t) => {
  const tools = [{ type: 'function', function: { name: 'f' } }, { name: 'g' }, { type: 'web_search' }];
  const page = request([], { tools, temperature: 0.5 }).conversation('request', 0, 1);
  t.same(page.tools?.names, ['f', 'g', 'web_search']);
  t.match(page.settings, { node: { type: 'object', size: 1 } });
});

t.test('embeddings of tokens, of base64 and a body that is no JSON are shown, too', async (t) => {
  const base64 = btoa('\0'.repeat(1_536 * 4));
  const response = { data: Array.from({ length: 3 }, () => ({ embedding: base64 })) };
  const bodies = new Bodies({ request: { input: [1, 2, 3] }, response, status: 200 });
  t.same(shown(bodies.conversation('response', 0, 5)), ['assistant Embeddings: 3 vectors of 1,536 numbers']);
  t.same(shown(bodies.conversation('request', 0, 5)), ['user data'], 'tokens are one message');
  const plain = new Bodies({ request: { text: 'hello' }, response: { text: 'hi' }, status: 200 });
  t.same(shown(plain.conversation('request', 0, 5)), ['user text: hello']);
  t.same(shown(plain.conversation('response', 0, 5)), ['assistant text: hi']);
});
