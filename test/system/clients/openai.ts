/** The `openai` package: what it gets when all goes well. */
import type OpenAI from 'openai';
import type { Test } from 'tap';
import { ANSWER, CHAT, clientOf, QUESTION, USAGE } from './openai-client.ts';
import { checkTokens } from './records.ts';
import { collect, type World } from './world.ts';

export async function plain(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai plain');
  const { data, response } = await clientOf(world, headers).chat.completions.create(CHAT).withResponse();
  t.equal(data.choices[0]?.message.content, ANSWER);
  t.match(data.usage, { prompt_tokens: USAGE.promptTokens, completion_tokens: USAGE.completionTokens });

  const sent = world.provider.requests.at(-1);
  t.equal(String(sent?.body), JSON.stringify(CHAT), 'the provider got the bytes that were sent');
  t.equal(sent?.headers.authorization, 'Bearer sk-operator', 'with the operator’s key');
  t.same(
    Object.keys(sent?.headers ?? {}).filter((name) => name.startsWith('service-')),
    [],
  );

  const [record] = await logged(1);
  checkTokens(t, record, { prompt: data.usage?.prompt_tokens, completion: data.usage?.completion_tokens });
  t.equal(record?.request_id, response.headers.get('service-request-id'));
  t.equal(record?.request_body.messages?.[0]?.content, QUESTION);
  t.equal(record?.response_body.choices?.[0]?.message.content, ANSWER);
  t.equal(record?.time_to_first_token, null);
}

export async function stream(t: Test, world: World): Promise<void> {
  for (const includesUsage of [false, true]) {
    const { headers, logged } = world.newCase(`openai stream, usage ${includesUsage}`);
    const options = includesUsage ? { stream_options: { include_usage: true } } : {};
    const body = { ...CHAT, ...options, stream: true } as const;
    const chunks = await collect(await clientOf(world, headers).chat.completions.create(body));
    t.equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), ANSWER);
    t.equal(chunks.filter((chunk) => chunk.choices.length === 0).length, includesUsage ? 1 : 0);
    t.equal(chunks.filter((chunk) => chunk.choices[0]?.delta.role === 'assistant').length, 1);
    const usage = chunks.at(-1)?.usage;
    t.match(
      usage ?? null,
      includesUsage ? { total_tokens: USAGE.promptTokens + USAGE.completionTokens } : null,
    );

    const [record] = await logged(1);
    checkTokens(t, record, { prompt: USAGE.promptTokens, completion: USAGE.completionTokens });
    t.equal(
      record?.response_body.choices?.[0]?.message.content,
      ANSWER,
      'the log has the answer in one piece',
    );
    t.type(record?.time_to_first_token, 'number');
    t.ok((record?.time_to_first_token ?? 0) <= (record?.delay_ms ?? 0));
  }
}

/** The package's own helper, which puts a stream together. */
export async function streamHelper(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai stream helper');
  const completion = await clientOf(world, headers).chat.completions.stream(CHAT).finalChatCompletion();
  t.equal(completion.choices[0]?.message.content, ANSWER);
  const [record] = await logged(1);
  checkTokens(t, record, { prompt: USAGE.promptTokens, completion: USAGE.completionTokens });
}

const TOOLS: OpenAI.ChatCompletionFunctionTool[] = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      parameters: { type: 'object', properties: { query: { type: 'string' } }, additionalProperties: false },
    },
  },
];

export async function tools(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai tools');
  const client = clientOf(world, headers);
  const body = { ...CHAT, tools: TOOLS };
  const plainAnswer = await client.chat.completions.create(body);
  const streamedAnswer = await client.chat.completions.stream(body).finalChatCompletion();
  for (const { choices } of [plainAnswer, streamedAnswer]) {
    t.equal(choices[0]?.finish_reason, 'tool_calls');
    const [call] = choices[0]?.message.tool_calls ?? [];
    t.match(call, { id: 'call_0', type: 'function', function: { name: 'get_weather' } });
    const given = call?.type === 'function' ? call.function.arguments : '';
    t.same(JSON.parse(given), { query: QUESTION });
  }
  const records = await logged(2);
  for (const record of records) {
    t.match(record.response_body.choices?.[0]?.message.tool_calls, [{ function: { name: 'get_weather' } }]);
  }
}

/** The caller's own provider key goes through, its Assay key stays here. */
export async function ownProviderKey(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai own key');
  const serviceAuth = { ...headers, 'Service-Auth': `Bearer ${world.apiKey}` };
  await clientOf(world, serviceAuth, { apiKey: 'sk-callers-own' }).chat.completions.create(CHAT);
  const sent = world.provider.requests.at(-1);
  t.equal(sent?.headers.authorization, 'Bearer sk-callers-own');
  t.notMatch(JSON.stringify(sent?.rawHeaders), world.apiKey);
  await logged(1);
}
