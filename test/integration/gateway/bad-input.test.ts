import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { createKey, createOrganization } from '#platform/keys/mod.ts';
import { startTestGateway } from '../../support/gateway.ts';

const gateway = await startTestGateway(t, {
  MAX_BODY_BYTES: '20000',
  ANTHROPIC_API_KEY: 'sk-ant',
  GROQ_BASE_URL: 'http://127.0.0.1:9/v1',
});

const MESSAGES = [{ role: 'user', content: 'Hello' }];
const GOOD = { model: 'gpt-4o-mini', messages: MESSAGES };

/** A bad request, and the exact response: status, code and sentence. */
const TABLE: {
  what: string;
  body: unknown;
  headers?: Record<string, string>;
  status: number;
  code: string;
  message: string;
}[] = [
  {
    what: 'an empty body',
    body: '',
    status: 400,
    code: 'invalid_json',
    message: 'The request body is not valid JSON',
  },
  {
    what: 'a body that ends too early',
    body: '{"model":',
    status: 400,
    code: 'invalid_json',
    message: 'The request body is not valid JSON',
  },
  {
    what: 'a stray comma',
    body: '{"model":"gpt-4o-mini",}',
    status: 400,
    code: 'invalid_json',
    message: 'The request body is not valid JSON (at character 23)',
  },
  {
    what: 'an array',
    body: '[]',
    status: 400,
    code: 'invalid_body',
    message: 'The request body must be a JSON object',
  },
  {
    what: 'null',
    body: 'null',
    status: 400,
    code: 'invalid_body',
    message: 'The request body must be a JSON object',
  },
  {
    what: 'no model',
    body: { messages: MESSAGES },
    status: 400,
    code: 'invalid_body',
    message: 'model is required: the id of the model to use',
  },
  {
    what: 'a model that is a number',
    body: { ...GOOD, model: 4 },
    status: 400,
    code: 'invalid_body',
    message: 'model must be a string that is not empty',
  },
  {
    what: 'an empty model',
    body: { ...GOOD, model: '' },
    status: 400,
    code: 'invalid_body',
    message: 'model must be a string that is not empty',
  },
  {
    what: 'stream as text',
    body: { ...GOOD, stream: 'yes' },
    status: 400,
    code: 'invalid_body',
    message: 'stream must be true or false',
  },
  {
    what: 'an unknown model',
    body: { ...GOOD, model: 'gpt-nonsense' },
    status: 404,
    code: 'model_not_found',
    message:
      "The model 'gpt-nonsense' does not exist here: use a catalog id such as gpt-4o-mini, or provider/model",
  },
  {
    what: 'an unknown provider',
    body: { ...GOOD, model: 'acme/gpt-4o' },
    status: 404,
    code: 'model_not_found',
    message:
      "The model 'acme/gpt-4o' does not exist here: use a catalog id such as gpt-4o-mini, or provider/model",
  },
  {
    what: 'a provider without a model',
    body: { ...GOOD, model: 'openai/' },
    status: 404,
    code: 'model_not_found',
    message:
      "The model 'openai/' does not exist here: use a catalog id such as gpt-4o-mini, or provider/model",
  },
  {
    what: 'what the dialect of its model cannot express',
    body: { ...GOOD, model: 'claude-sonnet-4-5', seed: 7 },
    status: 400,
    code: 'invalid_body',
    message: 'seed is not supported by Anthropic, whose answers cannot be repeated by a seed',
  },
  {
    what: 'a provider without a key',
    body: { ...GOOD, model: 'mistral/mistral-small-latest' },
    status: 400,
    code: 'provider_not_configured',
    message:
      'The provider mistral has no key here: MISTRAL_API_KEY is not set, none is stored, and the call has none of its own',
  },
  {
    what: 'a provider without an address',
    body: { ...GOOD, model: 'custom/llama' },
    status: 400,
    code: 'provider_not_configured',
    message:
      "The model 'custom/llama' needs the provider custom, which has no address here: CUSTOM_BASE_URL is not set",
  },
  {
    what: 'Azure without an endpoint',
    body: { ...GOOD, model: 'azure/prod' },
    status: 400,
    code: 'provider_not_configured',
    message:
      "The model 'azure/prod' needs the provider azure, which has no address here: AZURE_OPENAI_ENDPOINT is not set",
  },
  {
    what: 'a body over the limit',
    body: { ...GOOD, pad: 'x'.repeat(20_000) },
    status: 413,
    code: 'body_too_large',
    message: 'The request body is larger than the 20000 bytes allowed',
  },
  {
    what: 'a content-encoding nobody knows',
    body: GOOD,
    headers: { 'content-encoding': 'lzma' },
    status: 415,
    code: 'unsupported_media_type',
    message: 'The content-encoding "lzma" is not known; allowed are gzip, x-gzip, deflate, br, zstd',
  },
  {
    what: 'gzip that is not gzip',
    body: GOOD,
    headers: { 'content-encoding': 'gzip' },
    status: 400,
    code: 'invalid_body',
    message: 'The request body is not valid gzip',
  },
  {
    what: 'a request id of another form',
    body: GOOD,
    headers: { 'service-request-id': 'mine-1' },
    status: 400,
    code: 'invalid_header',
    message: 'The header service-request-id must be a UUID or a ULID, but is "mine-1"',
  },
  {
    what: 'a property without a name',
    body: GOOD,
    headers: { 'service-property-': 'x' },
    status: 400,
    code: 'invalid_header',
    message: 'A property header needs a name of 1 to 128 characters after Service-Property-, but has 0',
  },
  {
    what: 'a user id of 2,000 characters',
    body: GOOD,
    headers: { 'service-user-id': 'u'.repeat(2_000) },
    status: 400,
    code: 'invalid_header',
    message: 'The header service-user-id is 2000 characters long; at most 1024 are allowed',
  },
  {
    what: 'a wish to omit the answer that cannot be read',
    body: GOOD,
    headers: { 'service-omit-response': 'maybe' },
    status: 400,
    code: 'invalid_header',
    message: 'The header service-omit-response must be true or false, but is "maybe"',
  },
  {
    what: 'a wish for the cache that cannot be read',
    body: GOOD,
    headers: { 'service-cache-enabled': '' },
    status: 400,
    code: 'invalid_header',
    message: 'The header service-cache-enabled must be true or false, but is ""',
  },
  {
    what: "a name that only looks like a catalog's",
    body: { ...GOOD, model: 'gpt-4o-mini ' },
    status: 404,
    code: 'model_not_found',
    message:
      "The model 'gpt-4o-mini ' does not exist here: use a catalog id such as gpt-4o-mini, or provider/model",
  },
  {
    what: "Claude under another host's name, which Google does not know either",
    body: { ...GOOD, model: 'us.anthropic.claude-sonnet-4-5' },
    status: 404,
    code: 'model_not_found',
    message:
      "The model 'us.anthropic.claude-sonnet-4-5' does not exist here: use a catalog id such as gpt-4o-mini, or provider/model",
  },
  {
    what: 'no key',
    body: GOOD,
    headers: { authorization: '' },
    status: 401,
    code: 'invalid_api_key',
    message:
      'No API key was given: send it as "Authorization: Bearer <key>" or "x-api-key: <key>", or as "Service-Auth: Bearer <key>" beside your own provider key',
  },
  {
    what: 'a key in another scheme',
    body: GOOD,
    headers: { authorization: `Basic ${gateway.key}` },
    status: 401,
    code: 'invalid_api_key',
    message:
      'No API key was given: send it as "Authorization: Bearer <key>" or "x-api-key: <key>", or as "Service-Auth: Bearer <key>" beside your own provider key',
  },
  {
    what: 'a key that is not known',
    body: GOOD,
    headers: { authorization: `Bearer ${gateway.key.slice(0, -1)}_` },
    status: 401,
    code: 'invalid_api_key',
    message: 'Incorrect API key provided: it is not known here, or was revoked',
  },
  {
    what: 'SQL for a key',
    body: GOOD,
    headers: { authorization: "Bearer ' or 1=1; drop table assay.requests; --" },
    status: 401,
    code: 'invalid_api_key',
    message: 'Incorrect API key provided: it is not known here, or was revoked',
  },
];

for (const { what, body, headers, status, code, message } of TABLE) {
  t.test(`${what} is answered ${status} ${code}, and no provider is called`, async (t) => {
    const before = gateway.provider.requests.length;
    const answer = await gateway.chat(body, headers);
    const given = (await answer.json()) as {
      error: { message: string; type: string; param: null; code: string };
    };
    t.equal(answer.status, status);
    t.equal(given.error.code, code);
    t.equal(given.error.message, message);
    t.equal(given.error.param, null);
    t.type(given.error.type, 'string');
    t.match(answer.headers.get('content-type'), /^application\/json/);
    t.match(answer.headers.get('service-request-id'), /^[0-9A-Z]{26}$/);
    t.equal(gateway.provider.requests.length, before);
  });
}

t.test('a call without a valid key is refused before its body is read', async (t) => {
  const answer = await gateway.chat('{"model":', {
    authorization: 'Bearer sk-assay-unknown-unknown-unknown',
  });
  t.equal(answer.status, 401);
  t.equal(answer.headers.get('www-authenticate'), 'Bearer');
  await answer.body?.cancel();
});

t.test('a key without the scope "gateway" is refused with 403', async (t) => {
  const { organizationId } = await createOrganization(gateway.sql, { name: 'readers' });
  const { key } = await createKey(gateway.sql, { organizationId, scopes: ['read'] });
  const answer = await gateway.chat(GOOD, { authorization: `Bearer ${key}` });
  const given = (await answer.json()) as { error: { message: string; code: string } };
  t.equal(answer.status, 403);
  t.same([given.error.code, given.error.message], ['missing_scope', 'The API key lacks the scope "gateway"']);
});

t.test('an unknown path is a 404 and GET on chat completions a 405, in the same error format', async (t) => {
  const missing = await fetch(`${gateway.url}/v1/nothing`);
  t.equal(missing.status, 404);
  t.match(await missing.json(), {
    error: { code: 'not_found', message: 'There is no GET /v1/nothing here' },
  });
  const wrongMethod = await fetch(`${gateway.url}/v1/chat/completions`);
  t.equal(wrongMethod.status, 405);
  t.equal(wrongMethod.headers.get('allow'), 'POST');
  t.match(await wrongMethod.json(), { error: { code: 'method_not_allowed' } });
});

t.test('a 404 says what to change where the base URL or the API is not the one of the client', async (t) => {
  const anthropic = { 'anthropic-version': '2023-06-01' };
  const doubled = await fetch(`${gateway.url}/v1/v1/messages`, { method: 'POST', headers: anthropic });
  t.equal(doubled.status, 404);
  t.match(await doubled.json(), { type: 'error', error: { message: /but \/v1\/messages: .* too much/ } });
  for (const version of ['v1beta', 'v1']) {
    const path = `/${version}/models/gemini-2.5-flash:generateContent`;
    const google = await fetch(gateway.url + path, { method: 'POST' });
    t.equal(google.status, 404);
    t.match(await google.json(), {
      error: { code: 'not_found', message: /Google's own API is not served/ },
    });
  }
});

/** Asks for WebSocket, as Codex does before its first call. */
async function askForWebSocket(path: string) {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  const call = get(gateway.url + path, { agent: false, headers });
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  return { answer, told: JSON.parse(await text(answer)) as unknown };
}

t.test('a client that asks for WebSocket is told to go on with HTTP', async (t) => {
  for (const path of ['/v1/responses', '/responses']) {
    const { answer, told } = await askForWebSocket(path);
    t.equal(answer.statusCode, 426, 'the status that Codex acts upon');
    t.equal(answer.headers.upgrade, 'HTTP/1.1');
    const message = `WebSocket is not served on ${path}; use POST`;
    t.match(told, { error: { code: 'websocket_not_supported', message } });
  }
});

t.test('a body nested 150,000 levels deep is refused within a second', async (t) => {
  const deep = await startTestGateway(t);
  const body = `{"model":"gpt-4o-mini","messages":${'['.repeat(150_000)}${']'.repeat(150_000)}}`;
  const answer = await deep.chat(body);
  t.equal(answer.status, 400);
  t.match(await answer.json(), {
    error: { code: 'invalid_body', message: 'The request body is nested deeper than 100000 levels' },
  });
});
