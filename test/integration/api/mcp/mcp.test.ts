/** The MCP server at `/mcp`, called by the protocol's official client in both of its generations. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { insertRequests } from '../../../support/seed-requests.ts';
import { createWorld } from '../../../support/world.ts';

/** The protocol of 2025, which begins with a handshake, and that of 2026. */
const GENERATIONS = ['2025-11-25', '2026-07-28'] as const;

let api: TestApi;
let readKey: string;
t.before(async () => {
  api = await startTestApi(t);
  const { organization } = await createWorld(t, api.database);
  const third = await organization({ name: 'third' });
  readKey = await third.keyWith(['read']);
  // The first has 30 KB, and an emoji where the parts of its page are cut.
  const texts = ['😀'.repeat(9_000), '😀'.repeat(9_001), 'short'];
  await insertRequests(
    api.database.sql,
    api.own.organizationId,
    texts.map((content, index) => ({
      request_id: `own-${index}`,
      request_text: JSON.stringify({ messages: [{ role: 'user', content }] }),
    })),
  );
});

async function connect(t: Test, key: string, generation: (typeof GENERATIONS)[number] = '2026-07-28') {
  const options = generation === '2025-11-25' ? {} : { versionNegotiation: { mode: 'auto' as const } };
  const client = new Client({ name: 'test', version: '1' }, options);
  const transport = new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  await client.connect(transport);
  t.teardown(() => client.close());
  return client;
}

type Answer = { isError?: boolean | undefined; content: { type: string; text?: string }[] };

async function callTool(client: Client, name: string, given: Record<string, unknown>): Promise<Answer> {
  return (await client.callTool({ name, arguments: given })) as Answer;
}

for (const generation of GENERATIONS) {
  t.test(`a client of the protocol of ${generation} lists the tools and calls one`, async (t) => {
    const client = await connect(t, api.own.key, generation);
    t.equal(client.getNegotiatedProtocolVersion(), generation);
    const { tools } = await client.listTools();
    t.ok(tools.some(({ name }) => name === 'post_request_query'));
    const { content, isError } = await callTool(client, 'post_request_count_query', { filter: 'all' });
    t.notOk(isError);
    t.equal(content[0]?.text, '{"data":3,"error":null}');
  });
}

t.test('a key that only reads is offered the tools that only read, and no tool hands out keys', async (t) => {
  const reading = await (await connect(t, readKey)).listTools();
  const writing = await (await connect(t, api.own.key)).listTools();
  for (const { name, annotations } of reading.tools) t.equal(annotations?.readOnlyHint, true, name);
  t.ok(writing.tools.some(({ name }) => name === 'post_request_by_id_score'));
  t.ok(writing.tools.length > reading.tools.length);
  for (const { name, inputSchema } of writing.tools) {
    t.match(name, /^[a-zA-Z0-9_]{1,64}$/, 'a name that every client takes');
    t.notMatch(name, /^[a-z]+_(keys|provider_keys|audit)(_|$)/, 'keys are no business of models');
    t.notMatch(JSON.stringify(inputSchema), /\$ref/, `${name} stands by itself`);
    t.ok(JSON.stringify(inputSchema).length < 4_000, `${name} leaves room in a context`);
  }
});

t.test('a tool requires the parameters that its route requires', async (t) => {
  const { tools } = await (await connect(t, readKey)).listTools();
  const required = (name: string) => tools.find((tool) => tool.name === name)?.inputSchema.required;
  t.same(required('get_prompt_2025_id_by_id_by_versionId_inputs'), ['id', 'versionId', 'requestId']);
  t.same(required('get_request_by_id'), ['id']);
});

t.test('a key that only reads cannot write by naming a tool that it was not offered', async (t) => {
  const client = await connect(t, readKey);
  await t.rejects(
    callTool(client, 'post_request_by_id_score', { id: 'own-0', scores: { a: 1 } }),
    /needs a key with the scope write/,
  );
  await t.rejects(callTool(client, 'get_secrets', {}), /There is no such tool: get_secrets/);
});

t.test('a tool that writes changes the record that the API then shows', async (t) => {
  const client = await connect(t, api.own.key);
  const { content } = await callTool(client, 'post_request_by_id_score', {
    id: 'own-2',
    scores: { polite: true },
  });
  t.equal(content[0]?.text, '{"data":null,"error":null}');
  const { body } = await api.call('/v1/request/own-2');
  t.match(body.data, { scores: { polite: 1 } });
});

t.test('a request of another organization is as unknown to the tools as one that never was', async (t) => {
  const client = await connect(t, readKey);
  const foreign = await callTool(client, 'get_request_by_id', { id: 'own-2' });
  const none = await callTool(client, 'get_request_by_id', { id: 'own-9' });
  t.ok(foreign.isError);
  t.equal(foreign.content[0]?.text?.replace('own-2', 'own-9'), none.content[0]?.text);
});

t.test("the parts of a long answer are the API's answer, byte for byte", async (t) => {
  const client = await connect(t, api.own.key);
  const given = { filter: 'all', sort: { created_at: 'asc' } };
  const whole = (await api.call('/v1/request/query', { body: given })).text;
  let text = '';
  let cursor: string | undefined = '0';
  for (let parts = 0; cursor !== undefined && parts < 10; parts += 1) {
    const { content } = await callTool(client, 'post_request_query', { ...given, cursor });
    const part = content[0]?.text ?? '';
    t.ok(Buffer.byteLength(part) <= 40_000, 'a part fits into a context');
    text += part;
    cursor = /"cursor": "(\d+)"/.exec(content[1]?.text ?? '')?.[1];
  }
  t.ok(Buffer.byteLength(whole) > 40_000, 'the answer is long');
  t.ok(text === whole);
});

t.test('arguments that a route refuses come back as its sentence, for the model to mend', async (t) => {
  const client = await connect(t, api.own.key);
  const refusals: [string, Record<string, unknown>, RegExp][] = [
    ['post_request_query', { filter: { request: { colour: { equals: 'red' } } } }, /request\.colour/],
    ['post_request_query', { filter: 'all', limit: 1_000 }, /limit/],
    ['post_request_query', { filter: 'all', page: 2 }, /page/],
    ['post_request_query', { filter: 'all', cursor: 'next' }, /cursor/],
    ['get_request_by_id', {}, /id must be a text/],
    ['get_request_by_id', { id: '\ud800' }, /id must be a text/],
    [
      'post_request_query',
      JSON.parse(`{"filter":${'['.repeat(3_000)}${']'.repeat(3_000)}}`),
      /deeper than 1000 levels/,
    ],
    ['get_request_by_id', { id: 'own-2', colour: 'red' }, /no argument "colour"/],
  ];
  for (const [name, given, sentence] of refusals) {
    const { isError, content } = await callTool(client, name, given);
    t.equal(isError, true);
    t.match(content[0]?.text, sentence);
  }
});

t.test('an id with slashes and dots stays one id, and reaches no other route', async (t) => {
  const client = await connect(t, api.own.key);
  const { isError, content } = await callTool(client, 'get_request_by_id', { id: '../provider-keys?x=#' });
  t.equal(isError, true);
  t.match(content[0]?.text, /There is no request with the id/);
});

t.test('the document tells both types of the answers, and the form of messages', async (t) => {
  const { paths } = JSON.parse((await api.call('/openapi.json')).text);
  const { requestBody, responses } = paths['/mcp'].post;
  t.same(Object.keys(responses['200'].content), ['application/json', 'text/event-stream']);
  t.same(requestBody.content['application/json'].schema.required, ['jsonrpc', 'method']);
  const refused = await fetch(`${api.url}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api.own.key}`, 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0"}',
  });
  t.equal(refused.status, 400, 'a message without a method');
  t.match(await refused.json(), { jsonrpc: '2.0', error: { code: -32600 } });
});

t.test('messages that are refused fill no log', async (t) => {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
  const world = await createWorld(t, api.database);
  const { url } = await world.start('api', {}, log);
  for (let index = 0; index < 20; index += 1) {
    const headers = { authorization: `Bearer ${api.own.key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ jsonrpc: `${index}` });
    const { status } = await fetch(`${url}/mcp`, { method: 'POST', headers, body });
    t.equal(status, 400);
  }
  t.equal(lines.filter((line) => line.includes('MCP')).length, 1);
});

t.test('a client that accepts everything is answered, and one that accepts a page is not', async (t) => {
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const statusFor = async (accept: string) => {
    const headers = { authorization: `Bearer ${api.own.key}`, 'content-type': 'application/json', accept };
    const response = await fetch(`${api.url}/mcp`, { method: 'POST', headers, body: JSON.stringify(list) });
    await response.text();
    return response.status;
  };
  t.equal(await statusFor('*/*'), 200);
  t.equal(await statusFor('text/html, */*'), 200);
  t.equal(await statusFor('application/json, text/event-stream'), 200);
  t.equal(await statusFor('text/html'), 406);
});

t.test('MCP asks for a key before anything else, and takes messages only by POST', async (t) => {
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  t.equal((await api.call('/mcp', { key: null, body: list })).status, 401);
  t.equal((await api.call('/mcp', { key: 'sk-assay-no-such-key-at-all', body: list })).status, 401);
  t.equal((await api.call('/mcp', { method: 'GET' })).status, 405);
  t.equal((await api.call('/mcp', { method: 'DELETE' })).status, 405);
  const post = (body: string) =>
    fetch(`${api.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${api.own.key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body,
    });
  const bad = await post('{"jsonrpc":');
  t.equal(bad.status, 400);
  t.match(await bad.json(), { jsonrpc: '2.0', error: { code: -32700 } }, 'the error of JSON-RPC');
  t.equal((await post(' '.repeat(256 * 1024 + 1))).status, 413);
});
