/** Stored prompts in chat completions: the provider gets the expanded body, and the record says from which prompt. */
import OpenAI from 'openai';
import t from 'tap';
import { createOrganization } from '#platform/keys/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { startTestGateway } from '../../../support/gateway.ts';
import { storePrompt } from '../../../support/stored-prompt.ts';

const gateway = await startTestGateway(t);
const { sql, organizationId, provider } = gateway;
const client = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
t.beforeEach(() => {
  provider.script(null);
  provider.requests.length = 0;
});

const SUPPORT = {
  model: 'gpt-4o-mini',
  temperature: 0.2,
  stream: true,
  messages: [
    { role: 'system', content: 'You are {{persona}}. Answer in {{lines:number}} lines.' },
    { role: 'user', content: [{ type: 'text', text: 'About {{topic}}:' }] },
  ],
  response_format: {
    type: 'json_schema',
    json_schema: { name: 'a', schema: { maxItems: '{{lines:number}}' } },
  },
};
const INPUTS = { persona: 'a "pirate"', lines: 3, topic: '{{persona}} 🚢', unused: [1] };
const EXPANDED = {
  model: 'gpt-4o-mini',
  temperature: 0.2,
  messages: [
    { role: 'system', content: 'You are a "pirate". Answer in 3 lines.' },
    { role: 'user', content: [{ type: 'text', text: 'About {{persona}} 🚢:' }] },
  ],
  response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { maxItems: 3 } } },
};
const ASKED = { role: 'user' as const, content: 'How deep is the sea?' };

const lastBody = (): unknown => JSON.parse(provider.requests.at(-1)!.body.toString());

async function failureOf(body: object): Promise<{ status: number; code: string; message: string }> {
  const response = await gateway.chat({ model: 'gpt-4o-mini', messages: [], ...body });
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return { status: response.status, code: error.code, message: error.message };
}

const support = await storePrompt(sql, organizationId, { body: SUPPORT });

t.test(
  "OpenAI's client sends a prompt_id, and the provider gets the prompt and the call's messages",
  async (t) => {
    const body = { prompt_id: support.promptId, inputs: INPUTS, messages: [ASKED], model: 'gpt-4o' };
    const { data, response } = await client.chat.completions.create(body).withResponse();
    t.equal(
      data.choices.length,
      1,
      'a prompt that was stored with stream does not make a stream of the response',
    );
    t.same(lastBody(), { ...EXPANDED, model: 'gpt-4o', messages: [...EXPANDED.messages, ASKED] });
    const record = await gateway.record(response.headers.get('service-request-id')!);
    t.match(record, {
      prompt_id: support.promptId,
      prompt_version: '1.0',
      inputs: INPUTS,
      request_model: 'gpt-4o',
    });
    t.same(JSON.parse(record.request_text), lastBody(), 'the record has the body that the provider got');
  },
);

t.test('a call may name nothing but a prompt, and its stream is expanded too', async (t) => {
  const response = await gateway.chat({ prompt_id: support.promptId, inputs: INPUTS, stream: true });
  t.match(await response.text(), /data: \[DONE\]/);
  t.same(lastBody(), { stream: true, ...EXPANDED, stream_options: { include_usage: true } });
  t.match(await gateway.record(response), { is_stream: true, prompt_version: '1.0', inputs: INPUTS });
});

t.test('every other byte of the call stays as it is, in a small body and in a large one', async (t) => {
  const { promptId } = await storePrompt(sql, organizationId, {
    body: '{"seed":12345678901234567890,"messages":[{"role":"system","content":"Id {{id:number}}"}]}',
  });
  for (const padding of ['', 'x'.repeat(200_000)]) {
    const response = await gateway.chat(
      `\ufeff{ "model" : "gpt-4o-mini","odd":1.0, "inputs":{"id":98765432109876543210},` +
        `"messages":[ {"role":"user","content":"${padding}"}],"prompt_id" : "${promptId.toUpperCase()}" }`,
    );
    t.equal(response.status, 200);
    t.equal(
      provider.requests.at(-1)!.body.toString(),
      `{ "model" : "gpt-4o-mini","odd":1.0, ` +
        `"messages":[{"role":"system","content":"Id 98765432109876543210"}, {"role":"user","content":"${padding}"}] ,"seed":12345678901234567890}`,
    );
    await gateway.record(response);
    const [row] = await sql`
      select inputs::text as inputs from assay.requests where request_id = ${response.headers.get('service-request-id')}`;
    t.equal(row!.inputs, '{"id": 98765432109876543210}');
  }
});

t.test(
  'a version or an environment names the version of a prompt, and production is the default',
  async (t) => {
    const system = (content: string) => ({ messages: [{ role: 'system', content }] });
    const first = await storePrompt(sql, organizationId, { body: system('one') });
    const { promptId } = first;
    const second = await storePrompt(sql, organizationId, {
      promptId,
      version: [2, 1],
      body: system('two'),
      environments: ['staging', 'Größe 🚀'],
    });
    const cases: [object, string, string][] = [
      [{}, 'one', '1.0'],
      [{ environment: null, version_id: null, inputs: null }, 'one', '1.0'],
      [{ environment: 'production' }, 'one', '1.0'],
      [{ environment: 'staging' }, 'two', '2.1'],
      [{ environment: 'Größe 🚀' }, 'two', '2.1'],
      [{ version_id: first.versionId }, 'one', '1.0'],
      [{ version_id: second.versionId.toUpperCase() }, 'two', '2.1'],
    ];
    for (const [fields, content, version] of cases) {
      const response = await gateway.chat({ model: 'gpt-4o-mini', prompt_id: promptId, ...fields });
      t.equal(response.status, 200, await response.text());
      t.same(lastBody(), { model: 'gpt-4o-mini', ...system(content) }, JSON.stringify(fields));
      t.match(await gateway.record(response), { prompt_version: version, prompt_id: promptId, inputs: {} });
    }
  },
);

t.test(
  'the prompt_id of the body is in the record, and Service-Prompt-Id is a label for calls without one',
  async (t) => {
    const label = { 'service-prompt-id': 'my label' };
    const labelled = await gateway.chat({ model: 'gpt-4o-mini', messages: [ASKED] }, label);
    t.match(await gateway.record(labelled), { prompt_id: 'my label', prompt_version: null, inputs: null });
    const both = await gateway.chat({ prompt_id: support.promptId, inputs: INPUTS }, label);
    t.match(await gateway.record(both), { prompt_id: support.promptId, prompt_version: '1.0' });
  },
);

t.test('a call that asks to omit its request leaves no inputs in the record', async (t) => {
  const response = await gateway.chat(
    { prompt_id: support.promptId, inputs: INPUTS },
    { 'service-omit-request': 'true' },
  );
  t.match(await gateway.record(response), {
    prompt_version: '1.0',
    inputs: null,
    request_text: '{}',
  });
});

t.test('bodies without prompt_id pass through byte for byte, whatever other fields they have', async (t) => {
  const asked = '{"model":"gpt-4o-mini" ,"inputs":["{{x}}"],"environment":1,"version_id":null,"messages":[]}';
  await gateway.chat(asked);
  t.equal(provider.requests.at(-1)!.body.toString(), asked);
  const large = asked.replace('[]', JSON.stringify([{ role: 'user', content: 'x'.repeat(100_000) }]));
  const many = large.replace('["{{x}}"]', JSON.stringify(['y'.repeat(70_000)]));
  await gateway.chat(many);
  t.equal(provider.requests.at(-1)!.body.toString(), many);
});

t.test(
  'an unknown prompt, version or environment is a 400 that names it, as is one of another organization',
  async (t) => {
    const other = await createOrganization(sql, { name: 'other' });
    const foreign = await storePrompt(sql, other.organizationId, { body: {} });
    const deleted = await storePrompt(sql, organizationId, { body: {} });
    await sql`update assay.prompts set deleted_at = now() where prompt_id = ${deleted.promptId}`;
    const madeUp = '00000000-0000-4000-8000-00000000000f';
    const cases: [object, RegExp][] = [
      [
        { prompt_id: madeUp },
        /prompt_id "00000000-0000-4000-8000-00000000000f" and a version with the environment "production"$/,
      ],
      [{ prompt_id: 'my-prompt' }, /"my-prompt"/],
      [{ prompt_id: '' }, /prompt_id ""/],
      [{ prompt_id: foreign.promptId }, new RegExp(foreign.promptId)],
      [{ prompt_id: foreign.promptId, version_id: foreign.versionId }, new RegExp(foreign.versionId)],
      [{ prompt_id: support.promptId, version_id: foreign.versionId }, new RegExp(foreign.versionId)],
      [{ prompt_id: support.promptId, version_id: 'two' }, /the version_id "two"$/],
      [{ prompt_id: support.promptId, environment: 'canary' }, /the environment "canary"$/],
      [{ prompt_id: support.promptId, environment: 'a\0b' }, /the environment "a\\u0000b"$/],
      [{ prompt_id: deleted.promptId }, new RegExp(deleted.promptId)],
    ];
    for (const [fields, message] of cases) {
      t.match(
        await failureOf(fields),
        { status: 400, code: 'unknown_prompt', message },
        JSON.stringify(fields),
      );
    }
    t.equal(provider.requests.length, 0);
  },
);

t.test('a prompt field or an input that breaks a rule is a 400 that names it', async (t) => {
  const { promptId, versionId } = support;
  const nested = `${'['.repeat(600)}${']'.repeat(600)}`;
  const cases: [object, string | RegExp][] = [
    [{ prompt_id: 5 }, 'prompt_id must be a string, but is 5'],
    [{ prompt_id: null }, 'prompt_id must be a string: the id of a stored prompt'],
    [{ prompt_id: 'x'.repeat(5_000) }, 'prompt_id may be at most 4096 bytes long, but has 5002'],
    [{ prompt_id: promptId, version_id: {} }, 'version_id must be a string, but is {}'],
    [{ prompt_id: promptId, environment: true }, 'environment must be a string, but is true'],
    [
      { prompt_id: promptId, environment: 'production', version_id: versionId },
      'version_id and environment exclude each other: send one of them',
    ],
    [{ prompt_id: promptId, inputs: [] }, 'inputs must be an object, but is []'],
    [{ prompt_id: promptId, inputs: 'x' }, 'inputs must be an object, but is "x"'],
    [
      { prompt_id: promptId, inputs: { a: 'x'.repeat(65_536) } },
      /^inputs may be at most 65536 bytes long as JSON, but has 65/,
    ],
    [
      { prompt_id: promptId, inputs: { a: JSON.parse(nested) } },
      'inputs may be nested at most 512 levels deep',
    ],
    [
      { prompt_id: promptId },
      'inputs.persona is missing (used in messages[0].content); inputs.lines is missing (used in messages[0].content); ' +
        'inputs.topic is missing (used in messages[1].content[0].text)',
    ],
    [
      { prompt_id: promptId, inputs: { ...INPUTS, lines: '3' } },
      'inputs.lines must be a number, but is "3" (used in messages[0].content)',
    ],
    [
      { prompt_id: promptId, inputs: INPUTS, messages: 'Hi' },
      "messages must be an array, for the stored prompt's to be joined with the call's",
    ],
  ];
  for (const [fields, message] of cases) {
    t.match(await failureOf(fields), { status: 400, code: 'invalid_body', message }, String(message));
  }
  t.equal(provider.requests.length, 0);
});

t.test(
  'a prompt that its inputs make too large is a 413, and one with too many values to rewrite a 400',
  async (t) => {
    const large = await storePrompt(sql, organizationId, {
      body: { messages: [{ role: 'user', content: '{{x}}'.repeat(100) }], n: 1 },
    });
    const inputs = { x: 'é'.repeat(30_000) };
    const whole = await gateway.chat({ model: 'gpt-4o-mini', prompt_id: large.promptId, inputs });
    t.equal(whole.status, 200, 'three million characters');
    const many = await storePrompt(sql, organizationId, {
      body: { messages: Array.from({ length: 100 }, () => ({ role: 'user', content: '{{x:json}}' })) },
    });
    const values = { x: Array.from({ length: 20_000 }, () => 0) };
    t.match(await failureOf({ prompt_id: many.promptId, inputs: { x: 'x'.repeat(60_000) } }), {
      status: 413,
      code: 'body_too_large',
      message: 'The stored prompt with these inputs is larger than the 4194304 bytes allowed',
    });
    const rewritten = await fetch(`${gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify({ model: 'gpt-4o', prompt_id: many.promptId, inputs: values }),
    });
    t.equal(rewritten.status, 400);
    t.match(await rewritten.json(), {
      error: {
        message: /^The stored prompt cannot be sent to \/v1\/responses: expanded, it holds 2000\d+ values/,
      },
    });
  },
);

t.test('a call without a model, whose prompt has none, is refused as any other', async (t) => {
  const { promptId } = await storePrompt(sql, organizationId, { body: { messages: [] } });
  const response = await gateway.chat({ prompt_id: promptId });
  t.equal(response.status, 400);
  t.match(await response.json(), { error: { message: 'model is required: the id of the model to use' } });
});

t.test(
  'calls whose expanded bodies are equal share a response in the cache, and others do not',
  async (t) => {
    const cached = { 'service-cache-enabled': 'true' };
    const ask = async (inputs: object) =>
      (await gateway.chat({ prompt_id: support.promptId, inputs }, cached)).headers.get('service-cache');
    const inputs = { ...INPUTS, topic: 'the cache' };
    t.equal(await ask(inputs), 'MISS');
    await waitFor('the response to be stored', async () => (await ask(inputs)) === 'HIT');
    t.equal(await ask({ ...inputs, unused: 'other' }), 'HIT', 'the input that is not used');
    t.equal(await ask({ ...inputs, topic: 'another' }), 'MISS');
  },
);

t.test('a new version is used within a second, and a deleted prompt no longer', async (t) => {
  const body = (content: string) => ({ model: 'gpt-4o-mini', messages: [{ role: 'system', content }] });
  const { promptId } = await storePrompt(sql, organizationId, { body: body('first') });
  const use = async () => {
    const response = await gateway.chat({ prompt_id: promptId });
    await response.text();
    return response.status === 200 ? lastBody() : response.status;
  };
  t.same(await use(), body('first'));
  await storePrompt(sql, organizationId, { promptId, version: [1, 1], body: body('second') });
  const changedAt = performance.now();
  await waitFor('the new version', async () => JSON.stringify(await use()).includes('second'));
  const tookMs = performance.now() - changedAt;
  t.comment(`used after ${tookMs.toFixed(1)} ms`);
  // Far below the 30 seconds after which a cached version is read again.
  t.ok(tookMs < 20_000);
  await sql`update assay.prompts set deleted_at = now() where prompt_id = ${promptId}`;
  await waitFor('the prompt to be unknown', async () => (await use()) === 400);
});
