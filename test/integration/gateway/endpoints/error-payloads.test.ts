/** Error payloads under status 200, as OpenRouter sends them for a model that failed after its start. */
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { startTestGateway } from '../../../support/gateway.ts';
import { scriptedProvider } from '../../../support/world.ts';

const provider = await scriptedProvider(t);
const gateway = await startTestGateway(t, {
  OPENROUTER_API_KEY: 'sk-or',
  OPENROUTER_BASE_URL: provider.url,
  CUSTOM_BASE_URL: provider.url,
});

const TOLD = '{"error":{"message":"Provider returned error","code":429},"user_id":"u"}';
const CHAT = { model: 'openrouter/openai/gpt-4o', messages: [{ role: 'user', content: 'Hello' }] };

function answers(body: Uint8Array | string, headers: Record<string, string> = {}) {
  const all = { 'content-type': 'application/json', ...headers };
  return { kind: 'bytes' as const, body, headers: all };
}

/** As of a provider that sends blank lines while its model works. */
const AFTER_BLANKS = {
  ...answers(`\n         \n${TOLD}`),
  chunking: { at: [11], everyMs: 50 },
};

t.test('an error payload under status 200, in any form, leads to the next model', async (t) => {
  const packed = answers(gzipSync(TOLD), { 'content-encoding': 'gzip' });
  for (const told of [answers(TOLD), packed, AFTER_BLANKS]) {
    provider.script(() => told);
    const answer = await gateway.chat({ ...CHAT, model: `${CHAT.model},gpt-4o-mini` });
    t.equal(answer.headers.get('service-fallback-index'), '1');
    t.match(await answer.json(), { choices: [{}] });
    t.match(await gateway.record(answer), { status: 200, provider: 'OPENAI' });
  }
});

t.test('an error payload under status 200 is retried when the call asks for retries', async (t) => {
  let calls = 0;
  provider.script(() => {
    calls += 1;
    return calls === 1 ? answers(TOLD, { 'retry-after': '0' }) : { kind: 'answer', text: 'Hi' };
  });
  const answer = await gateway.chat(CHAT, { 'service-retry-enabled': 'true' });
  t.match(await answer.json(), { choices: [{ message: { content: 'Hi' } }] });
  t.equal(calls, 2);
});

t.test(
  'an error payload of the last model is relayed byte for byte, and recorded with its own status',
  async (t) => {
    provider.script(() => answers(TOLD));
    const answer = await gateway.chat(CHAT);
    t.equal(answer.status, 200);
    t.equal(await answer.text(), TOLD);
    t.match(
      await gateway.record(answer),
      { status: 429, error_code: null },
      'its record has the status told',
    );
  },
);

t.test('an error payload reaches a client of the other dialect as an error with its status', async (t) => {
  provider.script(() => answers(TOLD));
  const answer = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({ ...CHAT, max_tokens: 9 }),
  });
  t.equal(answer.status, 429);
  t.match(await answer.json(), {
    type: 'error',
    error: { type: 'rate_limit_error', message: 'Provider returned error' },
  });
  t.match(await gateway.record(answer), { status: 429 });
});

t.test('a response with choices beside an error member counts as an answer, in any chunks', async (t) => {
  const said = '{"choices":[{"message":{"content":null,"tool_calls":[]}}],"error":{"code":500},"x":"é"}';
  const long = `{"error":{"code":500},"choices":[],"pad":"${'x'.repeat(100_000)}"}`;
  for (const [body, bytesEach] of [
    [said, 1],
    [said, 1_000],
    [long, 10_000],
  ] as const) {
    provider.script(() => ({ ...answers(body), chunking: { bytesEach } }));
    const answer = await gateway.chat({ ...CHAT, model: `${CHAT.model},gpt-4o-mini` });
    t.equal(answer.headers.get('service-fallback-index'), '0');
    t.equal(await answer.text(), body);
  }
});

t.test(
  'an error within a stream counts as one in every form that servers send, for clients of both dialects',
  async (t) => {
    const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
    const begun = event({ id: 'c', model: 'tiny', choices: [{ index: 0, delta: { content: 'Hel' } }] });
    const vllm = { object: 'error', message: 'Engine died', type: 'BadRequestError', param: null, code: 400 };
    for (const [told, status, message] of [
      [{ error: 'Incomplete generation', error_type: 'incomplete_generation' }, 500, 'Incomplete generation'],
      [{ error: 'Input is too long', error_type: 'validation' }, 400, 'Input is too long'],
      [{ error: 'Model is overloaded', error_type: 'overloaded' }, 429, 'Model is overloaded'],
      [{ error: 'model is loading' }, 500, 'model is loading'],
      [vllm, 400, 'Engine died'],
    ] as const) {
      for (const before of ['', begun]) {
        const body = `${before}${event(told)}data: [DONE]\n\n`;
        provider.script(() => answers(body, { 'content-type': 'text/event-stream' }));
        const call = { ...CHAT, model: 'custom/tiny', stream: true };
        const answer = await gateway.chat(call);
        t.equal(await answer.text(), body);
        t.match(await gateway.record(answer), { status, error_code: null });
        const translated = await fetch(`${gateway.url}/v1/messages`, {
          method: 'POST',
          headers: { authorization: `Bearer ${gateway.key}` },
          body: JSON.stringify({ ...call, max_tokens: 9 }),
        });
        const text = await translated.text();
        t.match(text, `"message":"${message}"`);
        t.notMatch(text, 'message_stop', 'half of an answer does not pass for all of it');
        t.match(await gateway.record(translated), { status });
      }
    }
  },
);

t.test('a stream whose first event is an error that is text leads to the next model', async (t) => {
  provider.script(() =>
    answers('data: {"error":"model is loading"}\n\n', { 'content-type': 'text/event-stream' }),
  );
  const answer = await gateway.chat({ ...CHAT, stream: true, model: 'custom/tiny,gpt-4o-mini' });
  t.equal(answer.headers.get('service-fallback-index'), '1');
  await answer.text();
});

t.test(
  "a stream that refuses the client's input in a text neither leads to the next model nor opens the circuit",
  async (t) => {
    const told = {
      error: 'Input validation error: `inputs` must have less than 4096 tokens',
      error_type: 'validation',
    };
    const body = `data: ${JSON.stringify(told)}\n\n`;
    provider.script(() => answers(body, { 'content-type': 'text/event-stream' }));
    for (let number = 0; number < 6; number += 1) {
      const answer = await gateway.chat({ ...CHAT, stream: true, model: 'custom/small,gpt-4o-mini' });
      t.equal(answer.headers.get('service-fallback-index'), '0');
      t.equal(await answer.text(), body);
    }
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    t.notMatch(metrics, /^assay_gateway_provider_open\{[^}]*address="custom [^}]*\} 1$/m);
  },
);

t.test("a body in one piece that refuses the client's input in a text is relayed", async (t) => {
  const body = JSON.stringify({ error: 'Input validation error', error_type: 'validation' });
  provider.script(() => answers(body));
  const answer = await gateway.chat({ ...CHAT, model: 'custom/small,gpt-4o-mini' });
  t.equal(answer.headers.get('service-fallback-index'), '0');
  t.equal(await answer.text(), body);
  t.match(await gateway.record(answer), { status: 400 });
});

t.test(
  'text, and the name of an object, are no error in a chunk with choices; an error object is one',
  async (t) => {
    const choices = [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }];
    const told = { id: 'c', model: 'tiny', choices };
    for (const [chunk, status] of [
      [{ ...told, error: 'cache is cold' }, 200],
      [{ ...told, object: 'error' }, 200],
      [{ ...told, error: { message: 'Gone', code: 502 } }, 502],
    ] as const) {
      const body = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
      provider.script(() => answers(body, { 'content-type': 'text/event-stream' }));
      const call = { ...CHAT, model: 'custom/other,gpt-4o-mini', stream: true };
      const answer = await gateway.chat(call);
      t.equal(answer.headers.get('service-fallback-index'), status === 200 ? '0' : '1');
      await answer.text();
      const alone = await gateway.chat({ ...call, model: 'custom/other' });
      t.equal(await alone.text(), body);
      t.match(await gateway.record(alone), { status, truncated: status !== 200 });
      const translated = await fetch(`${gateway.url}/v1/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}` },
        body: JSON.stringify({ ...call, model: 'custom/other', max_tokens: 9 }),
      });
      t.equal((await translated.text()).includes('message_stop'), status === 200);
    }
  },
);
