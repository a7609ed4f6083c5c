/** One call through the gateway: what reaches the provider, what comes back, and what is recorded of it. */
import { gzipSync } from 'node:zlib';
import OpenAI from 'openai';
import t from 'tap';
import { request } from 'undici';
import { createKey, createOrganization, revokeKey } from '#platform/keys/mod.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { waitFor } from '../../support/assay.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { leastOf } from '../../support/least-of.ts';
import type { Behaviour } from '../../support/scripted-provider.ts';
import { scriptedProvider } from '../../support/world.ts';

const gateway = await startTestGateway(t, {
  MISTRAL_API_KEY: 'sk-mistral',
  AZURE_OPENAI_API_KEY: 'azure-secret',
});
t.afterEach(() => gateway.provider.script(null));

const GOOD = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };
const lastCall = () => gateway.provider.requests.at(-1)!;

t.test(
  'the request reaches the provider byte for byte, odd spacing, numbers and unknown fields included',
  async (t) => {
    const body =
      '{ "model" : "gpt-4o-mini",\n"messages":[{"role":"user","content":"caf\\u00e9 \\ud83d"}], "z":1e400,"a":1.10,"z":2 }';
    const answer = await gateway.chat(body);
    t.equal(answer.status, 200);
    t.equal(lastCall().body.toString(), body);
    t.equal(lastCall().path, '/v1/chat/completions');
    await answer.text();
  },
);

t.test('the response reaches the client byte for byte, with its status and headers', async (t) => {
  const body = Buffer.from('{"id":"x","z":1e400,"a":"caf\u00e9 \\ud83d" , "a":1}');
  gateway.provider.script(() => ({
    kind: 'bytes',
    body,
    status: 201,
    headers: { 'content-type': 'application/json', 'x-ratelimit-remaining-requests': '7' },
  }));
  const answer = await gateway.chat(GOOD);
  t.equal(answer.status, 201);
  t.equal(answer.headers.get('x-ratelimit-remaining-requests'), '7');
  t.same(Buffer.from(await answer.arrayBuffer()), body);
});

t.test('a long response is never compressed here, whatever its client accepts', async (t) => {
  const body = Buffer.from(JSON.stringify({ id: 'x', text: 'The same sentence again. '.repeat(200) }));
  gateway.provider.script(() => ({ kind: 'bytes', body, headers: { 'content-type': 'application/json' } }));
  for (const accepted of ['gzip', 'br', 'zstd', '*', 'gzip, identity;q=0']) {
    const answer = await request(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'application/json',
        'accept-encoding': accepted,
      },
      body: JSON.stringify(GOOD),
    });
    t.same(Buffer.from(await answer.body.arrayBuffer()), body, accepted);
    t.equal(answer.headers['content-encoding'], undefined);
    t.equal(answer.headers.vary, undefined);
  }
  const models = await request(`${gateway.url}/v1/models`, { headers: { 'accept-encoding': 'gzip' } });
  t.equal(models.headers['content-encoding'], undefined, 'nor are the answers of the gateway itself');
  await models.body.dump();
});

t.test('only the model name changes in a request for provider/model', async (t) => {
  const body =
    '{"messages":[{"role":"user","content":"\\"model\\":\\"x\\""}],"model": "openai/gpt-brand-new" ,"x":{"model":"y"}}';
  const answer = await gateway.chat(body);
  t.equal(lastCall().body.toString(), body.replace('openai/gpt-brand-new', 'gpt-brand-new'));
  const record = await gateway.record(answer);
  t.match(record, { request_model: 'openai/gpt-brand-new', model: 'gpt-brand-new' });
  t.equal(record.request_text, JSON.stringify(JSON.parse(body)));
  t.equal(record.request_raw?.toString(), body, 'the log keeps what the client sent');
});

t.test(
  'no credential, cookie, forwarding or service header of the caller reaches the provider',
  async (t) => {
    const answer = await gateway.chat(GOOD, {
      cookie: 'session=1',
      'x-forwarded-for': '10.0.0.1',
      'service-user-id': 'u',
      'service-property-plan': 'pro',
      'service-session-id': 's',
      'x-api-key': 'k',
      'openai-organization': 'org-1',
      'x-stainless-lang': 'js',
    });
    await answer.text();
    const { headers } = lastCall();
    t.equal(headers.authorization, 'Bearer sk-operator');
    t.equal(headers['openai-organization'], 'org-1');
    t.equal(headers['x-stainless-lang'], 'js');
    for (const name of Object.keys(headers)) {
      t.notMatch(name, /^(service-|cookie|x-forwarded|x-api-key)/);
    }
    t.notOk(JSON.stringify(headers).includes(gateway.key));
  },
);

t.test('a caller with its own provider key sends the Assay key as Service-Auth', async (t) => {
  const answer = await gateway.chat(GOOD, {
    'service-auth': `Bearer ${gateway.key}`,
    authorization: 'Bearer sk-own',
  });
  t.equal(answer.status, 200);
  t.equal(lastCall().headers.authorization, 'Bearer sk-own');
  await answer.text();
});

t.test('Azure gets its key as api-key', async (t) => {
  const azure = await startTestGateway(t, {
    AZURE_OPENAI_API_KEY: 'azure-secret',
    AZURE_OPENAI_ENDPOINT: new URL(gateway.provider.url).origin,
  });
  const answer = await azure.chat({ ...GOOD, model: 'azure/prod' });
  await answer.text();
  t.equal(lastCall().headers['api-key'], 'azure-secret');
  t.equal(lastCall().headers.authorization, undefined);
  t.equal(lastCall().path, '/openai/v1/chat/completions');
  t.equal(JSON.parse(lastCall().body.toString()).model, 'prod');
  t.equal((await azure.record(answer)).provider, 'AZURE');
});

t.test('the record of a call has its request, response, usage and cost', async (t) => {
  gateway.provider.script(() => ({
    kind: 'answer',
    text: 'Hi',
    model: 'gpt-4o-mini-2024-07-18',
    id: 'chatcmpl-77',
    usage: { promptTokens: 1_000, completionTokens: 500, cachedTokens: 400 },
  }));
  const answer = await gateway.chat(
    { ...GOOD, user: 'from-body' },
    { 'service-property-plan': 'pro', 'service-session-id': 's1' },
  );
  await answer.text();
  const record = await gateway.record(answer);
  t.match(record, {
    status: 200,
    provider: 'OPENAI',
    request_model: 'gpt-4o-mini',
    response_model: 'gpt-4o-mini-2024-07-18',
    model: 'gpt-4o-mini-2024-07-18',
    response_id: 'chatcmpl-77',
    prompt_tokens: 1_000,
    completion_tokens: 500,
    total_tokens: 1_500,
    user_id: 'from-body',
    session_id: 's1',
    request_properties: { plan: 'pro' },
    is_stream: false,
    truncated: false,
    ttft_ms: null,
  });
  // $0.15 a million input, $0.075 cached, $0.60 output: 600 × 150 + 400 × 75 + 500 × 600 nano-dollars.
  t.equal(record.cost_nano, String(600 * 150 + 400 * 75 + 500 * 600));
});

t.test('a model without a known price has no cost, which is not 0', async (t) => {
  gateway.provider.script(() => ({ kind: 'answer', model: 'gpt-brand-new' }));
  const answer = await gateway.chat({ ...GOOD, model: 'openai/gpt-brand-new' });
  await answer.text();
  const record = await gateway.record(answer);
  t.equal(record.cost_nano, null);
  t.ok(record.total_tokens! > 0);
});

t.test('Service-User-Id takes precedence over the user of the body, and keeps UTF-8', async (t) => {
  const answer = await gateway.chat(
    { ...GOOD, user: 'body' },
    { 'service-user-id': Buffer.from('Zoë').toString('latin1') },
  );
  await answer.text();
  t.equal((await gateway.record(answer)).user_id, 'Zoë');
});

t.test('the user of a body is its user, or else its safety_identifier, however long it is', async (t) => {
  const filler = 'x'.repeat(20_000);
  for (const [named, user] of [
    [{ safety_identifier: 'safe' }, 'safe'],
    [{ safety_identifier: 'safe', metadata: { filler } }, 'safe'],
    [{ safety_identifier: 'safe', user: 'ada' }, 'ada'],
    [{ safety_identifier: null }, null],
  ] as const) {
    const answer = await gateway.chat({ ...GOOD, ...named });
    await answer.text();
    t.equal((await gateway.record(answer)).user_id, user);
  }
});

t.test('an empty label is none: headers that clients send for what they do not have', async (t) => {
  const empty = {
    'service-user-id': '',
    'service-session-id': '',
    'service-session-path': '',
    'service-prompt-id': '',
    'service-experiment-id': '',
  };
  for (const [named, user] of [
    [{ user: 'ada' }, 'ada'],
    [{ user: '', safety_identifier: 'safe' }, 'safe'],
    [{ user: '' }, null],
  ] as const) {
    const answer = await gateway.chat({ ...GOOD, ...named }, empty);
    await answer.text();
    t.match(await gateway.record(answer), {
      user_id: user,
      session_id: null,
      session_path: null,
      prompt_id: null,
      experiment_id: null,
    });
  }
});

t.test(
  'a gzipped response is relayed as it is to a client that accepts gzip, and recorded decompressed',
  async (t) => {
    gateway.provider.script(() => ({ kind: 'answer', text: 'zipped', encoding: 'gzip' }));
    const answer = await gateway.chat(GOOD, { 'accept-encoding': 'gzip' });
    t.equal(answer.headers.get('content-encoding'), 'gzip');
    t.match(await answer.json(), { choices: [{ message: { content: 'zipped' } }] });
    t.match(JSON.parse((await gateway.record(answer)).response_text), {
      choices: [{ message: { content: 'zipped' } }],
    });
  },
);

t.test('a gzipped request is sent to the provider decompressed', async (t) => {
  const answer = await gateway.chat(gzipSync(JSON.stringify(GOOD)), { 'content-encoding': 'gzip' });
  await answer.text();
  t.equal(lastCall().body.toString(), JSON.stringify(GOOD));
  t.equal(lastCall().headers['content-encoding'], undefined);
});

t.test('the provider CUSTOM needs no key, and is sent none unless the caller has one', async (t) => {
  const local = await scriptedProvider(t);
  const keyless = await startTestGateway(t, { CUSTOM_BASE_URL: local.url });
  local.script(() => ({ kind: 'answer' }));
  t.equal((await keyless.chat({ ...GOOD, model: 'custom/llama3.2' })).status, 200);
  t.notOk('authorization' in local.requests[0]!.headers);
  const own = { 'service-auth': `Bearer ${keyless.key}`, authorization: 'Bearer sk-mine' };
  await keyless.chat({ ...GOOD, model: 'custom/llama3.2' }, own);
  t.equal(local.requests[1]!.headers.authorization, 'Bearer sk-mine', 'but for one that the call brings');
});

t.test('a request id of the caller is kept, and refused with 409 when used again', async (t) => {
  const id = newRequestId();
  const first = await gateway.chat(GOOD, { 'service-request-id': id });
  await first.text();
  t.equal(first.headers.get('service-request-id'), id);
  const second = await gateway.chat(GOOD, { 'service-request-id': id });
  t.equal(second.status, 409);
  t.equal(second.headers.get('x-should-retry'), 'false');
  t.match(await second.json(), {
    error: {
      code: 'request_id_in_use',
      message: `The Service-Request-Id ${id} was used before, perhaps by an earlier attempt`,
    },
  });
});

t.test('a failed call that has used its request id up tells clients not to retry', async (t) => {
  const failures: Behaviour[] = [
    { kind: 'error', status: 503 },
    { kind: 'error', status: 429, headers: { 'x-should-retry': 'true' } },
    { kind: 'cut', at: 'headers' },
  ];
  for (const failure of failures) {
    gateway.provider.script(() => failure);
    const chosen = await gateway.chat(GOOD, { 'service-request-id': newRequestId() });
    await chosen.text();
    t.equal(chosen.headers.get('x-should-retry'), 'false');
    const other = await gateway.chat(GOOD);
    await other.text();
    t.not(other.headers.get('x-should-retry'), 'false', 'a new id each time');
  }
});

t.test('a call that is refused does not use its request id up', async (t) => {
  const id = newRequestId();
  const refused = await gateway.chat({ ...GOOD, model: 'groq/llama' }, { 'service-request-id': id });
  t.equal(refused.status, 400);
  await refused.text();
  const taken = await gateway.chat(GOOD, { 'service-request-id': id });
  t.equal(taken.status, 200);
  await taken.text();
});

t.test('two organizations may use the same request id', async (t) => {
  const id = newRequestId();
  const { organizationId } = await createOrganization(gateway.sql, { name: 'other' });
  const { key } = await createKey(gateway.sql, { organizationId, scopes: ['gateway'] });
  const ours = await gateway.chat(GOOD, { 'service-request-id': id });
  const theirs = await gateway.chat(GOOD, { 'service-request-id': id, authorization: `Bearer ${key}` });
  t.same([ours.status, theirs.status], [200, 200]);
  await Promise.all([ours.text(), theirs.text()]);
});

t.test(
  'a call that omits its bodies is recorded with its tokens, and its text is written nowhere',
  async (t) => {
    const secret = 'the-secret-question';
    gateway.provider.script(() => ({
      kind: 'answer',
      text: 'the-secret-answer',
      usage: { promptTokens: 10, completionTokens: 5 },
    }));
    const answer = await gateway.chat(
      { ...GOOD, messages: [{ role: 'user', content: secret }] },
      { 'service-omit-request': 'true', 'service-omit-response': 'true' },
    );
    await answer.text();
    const record = await gateway.record(answer);
    t.match(record, {
      request_text: '{}',
      response_text: '{}',
      request_raw: null,
      response_raw: null,
      prompt_tokens: 10,
      model: 'gpt-4o-mini',
    });
    t.ok(Number(record.cost_nano) > 0);
    const { readdirSync, readFileSync } = await import('node:fs');
    const outbox = readdirSync(gateway.dataDir, { recursive: true, withFileTypes: true }).filter((file) =>
      file.name.endsWith('.log'),
    );
    t.ok(outbox.length > 0);
    for (const file of outbox)
      t.notOk(readFileSync(`${file.parentPath}/${file.name}`).includes('the-secret-'));
  },
);

t.test('a revoked key is refused within a second', async (t) => {
  const { organizationId } = await createOrganization(gateway.sql, { name: 'leavers' });
  const leastMs = await leastOf(
    3,
    async () => {
      const { key, record } = await createKey(gateway.sql, { organizationId, scopes: ['gateway'] });
      const statusOfCall = async () => {
        const answer = await gateway.chat(GOOD, { authorization: `Bearer ${key}` });
        await answer.text();
        return answer.status;
      };
      t.equal(await statusOfCall(), 200);
      await revokeKey(gateway.sql, record.keyId);
      const revokedAt = performance.now();
      await waitFor('the key to be refused', async () => (await statusOfCall()) === 401);
      return performance.now() - revokedAt;
    },
    1_000,
  );
  t.ok(leastMs < 1_000, `${leastMs} ms`);
});

t.test('/chat/completions without /v1 is served alike', async (t) => {
  const client = new OpenAI({ baseURL: gateway.url, apiKey: gateway.key });
  const completion = await client.chat.completions.create({
    ...GOOD,
    messages: [{ role: 'user', content: 'Hello' }],
  });
  t.equal(completion.object, 'chat.completion');
});

t.test('bodies of 30 MiB are relayed and stored whole', async (t) => {
  const big = 'x'.repeat(30 * 1024 * 1024);
  gateway.provider.script(() => ({
    kind: 'json',
    body: {
      id: 'big',
      model: 'gpt-4o-mini',
      choices: [{ index: 0, message: { role: 'assistant', content: big }, finish_reason: 'stop' }],
    },
  }));
  const answer = await gateway.chat({ ...GOOD, messages: [{ role: 'user', content: big }] });
  const completion = (await answer.json()) as { choices: { message: { content: string } }[] };
  t.equal(completion.choices[0]!.message.content.length, big.length);
  const record = await gateway.record(answer);
  t.equal(record.request_text.length > big.length, true);
  t.equal(record.response_text.length > big.length, true);
  t.equal(lastCall().body.length > big.length, true);
});
