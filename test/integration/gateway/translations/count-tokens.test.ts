/** Anthropic's client counts the tokens of a call of a model of OpenAI's: by OpenAI's own count. */
import Anthropic from '@anthropic-ai/sdk';
import t from 'tap';
import type { JsonObject } from '#core/json/mod.ts';
import { startTestGateway } from '../../../support/gateway.ts';

const gateway = await startTestGateway(t, {
  AZURE_OPENAI_API_KEY: 'k',
  AZURE_OPENAI_ENDPOINT: 'http://127.0.0.1:9',
});
const client = new Anthropic({ apiKey: gateway.key, baseURL: gateway.url, maxRetries: 0 });
t.beforeEach(() => {
  gateway.provider.requests.length = 0;
});

const counted = (body: unknown) =>
  gateway.provider.script(() => ({ kind: 'json', body: body as JsonObject, status: 200 }));
const ASK = {
  system: 'Be brief.',
  messages: [{ role: 'user' as const, content: 'The weather in Köln?' }],
  tools: [{ name: 'weather', input_schema: { type: 'object' as const, properties: {} } }],
};

for (const model of ['gpt-5.6', 'gpt-4o-mini'])
  t.test(`${model} is asked for the count of what the call would send it`, async (t) => {
    counted({ object: 'response.input_tokens', input_tokens: 57 });
    t.same(await client.messages.countTokens({ ...ASK, model }), { input_tokens: 57 });
    const [sent] = gateway.provider.requests;
    t.equal(sent?.path, '/v1/responses/input_tokens');
    const body = JSON.parse(sent!.body.toString()) as JsonObject;
    // https://platform.openai.com/docs/api-reference/responses/input-tokens: neither a limit, nor what is stored.
    t.same(Object.keys(body).sort(), ['input', 'model', 'tools']);
    t.match(JSON.stringify(body.input), /Be brief\..*Köln/);
  });

t.test('thinking counts as the effort of the call', async (t) => {
  counted({ object: 'response.input_tokens', input_tokens: 57 });
  await client.messages.countTokens({
    ...ASK,
    model: 'gpt-5.6',
    thinking: { type: 'enabled', budget_tokens: 20_000 },
  });
  const body = JSON.parse(gateway.provider.requests[0]!.body.toString()) as JsonObject;
  t.same(body.reasoning, { effort: 'high' });
});

t.test('a count is logged under Anthropic’s path, without tokens and for nothing', async (t) => {
  counted({ object: 'response.input_tokens', input_tokens: 57 });
  const { response } = await client.messages.countTokens({ ...ASK, model: 'gpt-5.6' }).withResponse();
  const record = await gateway.record(response.headers.get('service-request-id')!);
  t.match(record, { path: '/v1/messages/count_tokens', status: 200, total_tokens: null });
  t.equal(Number(record.cost_nano ?? 0), 0);
});

t.test('errors are in Anthropic’s form: of OpenAI, of an answer that is no count, of a field', async (t) => {
  gateway.provider.script(() => ({
    kind: 'json',
    status: 400,
    body: { error: { message: 'No such model', type: 'invalid_request_error', param: null, code: null } },
  }));
  const failed = (body: object) =>
    client.messages.countTokens({ ...ASK, model: 'gpt-5.6', ...body }).then(
      () => t.fail('it is an error'),
      (error) => error,
    );
  t.match(await failed({}), { status: 400, error: { type: 'error', error: { message: 'No such model' } } });
  for (const none of [{}, { input_tokens: '57' }, { input_tokens: -1 }]) {
    counted(none);
    t.match(await failed({}), {
      status: 502,
      error: { type: 'error', error: { message: /count of tokens/ } },
    });
  }
  t.match(await failed({ top_k: 4 }), { status: 400, error: { error: { message: /top_k/ } } });
});

t.test('where there is no count, the error says what the model can be called for', async (t) => {
  const asked = client.messages.countTokens({ ...ASK, model: 'azure/gpt-5.6' });
  const error = await asked.catch((error: unknown) => error);
  t.match(error, { status: 404, error: { error: { message: /has no \/v1\/messages\/count_tokens here/ } } });
});
