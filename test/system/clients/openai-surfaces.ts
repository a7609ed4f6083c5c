/** The `openai` package beyond chat completions: Responses, embeddings, moderations, completions. */
import type OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import type { Test } from 'tap';
import { z } from 'zod';
import { JSON_SCHEMA } from './models/asked.ts';
import { ANSWER, clientOf, QUESTION } from './openai-client.ts';
import { checkTokens, EMBEDDER, EMBEDDINGS_PLACE, MODEL, RESPONSES_PLACE } from './records.ts';
import { collect, type World } from './world.ts';

const ASKED = { model: MODEL, input: QUESTION };

function usageOf({ usage }: OpenAI.Responses.Response) {
  return { prompt: usage?.input_tokens, completion: usage?.output_tokens };
}

export async function responses(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai responses');
  const { data, response } = await clientOf(world, headers).responses.create(ASKED).withResponse();
  t.equal(data.output_text, ANSWER);
  t.equal(String(world.provider.requests.at(-1)?.body), JSON.stringify(ASKED), 'the bytes that were sent');
  const [record] = await logged(1);
  checkTokens(t, record, usageOf(data), RESPONSES_PLACE);
  t.equal(record?.request_id, response.headers.get('service-request-id'));
  t.match(record?.response_body, { id: data.id, object: 'response', status: 'completed' });
}

export async function responsesStream(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai responses stream');
  const events = await collect(await clientOf(world, headers).responses.create({ ...ASKED, stream: true }));
  const deltas = events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : ''));
  t.equal(deltas.join(''), ANSWER);
  const last = events.at(-1);
  t.equal(last?.type, 'response.completed');
  const [record] = await logged(1);
  if (last?.type === 'response.completed') checkTokens(t, record, usageOf(last.response), RESPONSES_PLACE);
  t.type(record?.time_to_first_token, 'number');
  t.match(record?.response_body, { object: 'response', output: [{ content: [{ text: ANSWER }] }] });
}

/** The package's own helper, which puts a stream together. */
export async function responsesHelper(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai responses helper');
  const response = await clientOf(world, headers).responses.stream(ASKED).finalResponse();
  t.equal(response.output_text, ANSWER);
  const [record] = await logged(1);
  checkTokens(t, record, usageOf(response), RESPONSES_PLACE);
}

/** A tool is called, plain and streamed, and its output answered. */
export async function responsesTools(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai responses tools');
  const client = clientOf(world, headers);
  const weather = { type: 'function' as const, name: 'get_weather', parameters: JSON_SCHEMA, strict: true };
  const asked = { ...ASKED, tools: [weather] };
  const answers = [
    await client.responses.create(asked),
    await client.responses.stream(asked).finalResponse(),
  ];
  for (const { output } of answers) {
    t.match(output, [{ type: 'function_call', name: 'get_weather' }]);
    const [call] = output;
    if (call?.type !== 'function_call') continue;
    t.same(JSON.parse(call.arguments), { query: QUESTION });
    const result = { type: 'function_call_output' as const, call_id: call.call_id, output: '21 °C' };
    const { output_text } = await client.responses.create({ ...asked, input: [call, result] });
    t.equal(output_text, 'The tool said: 21 °C');
  }
  const [first] = await logged(4);
  t.match(first, { response_body: { output: [{ type: 'function_call' }] }, delivery: { truncated: false } });
}

export async function responsesParse(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai responses parse');
  const format = zodTextFormat(z.object({ query: z.string() }), 'query');
  const response = await clientOf(world, headers).responses.parse({ ...ASKED, text: { format } });
  t.same(response.output_parsed, { query: QUESTION });
  const [record] = await logged(1);
  checkTokens(t, record, usageOf(response), RESPONSES_PLACE);
}

/** The package asks for base64 by itself, and turns it into numbers. */
export async function embeddings(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai embeddings');
  const client = clientOf(world, headers);
  const inBase64 = await client.embeddings.create({ model: EMBEDDER, input: ['sunny', 'rainy'] });
  t.match(JSON.parse(String(world.provider.requests.at(-1)?.body)), { encoding_format: 'base64' });
  const asNumbers = await client.embeddings.create({
    model: EMBEDDER,
    input: ['sunny', 'rainy'],
    encoding_format: 'float',
  });
  t.same(inBase64.data, asNumbers.data);
  t.same(inBase64.data[0]?.embedding, [0.25, -0.5, 0.125]);
  for (const record of await logged(2)) {
    checkTokens(t, record, { prompt: inBase64.usage.prompt_tokens, completion: 0 }, EMBEDDINGS_PLACE);
  }
}

/** Free, and logged. */
export async function moderations(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai moderations');
  const client = clientOf(world, headers);
  const { results } = await client.moderations.create({ input: 'Some violence' });
  t.match(results, [{ flagged: true, categories: { violence: true } }]);
  t.match(await logged(1), [
    { request_path: '/v1/moderations', provider: 'OPENAI', response_status: 200, cost: null },
  ]);
}

export async function completions(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('openai completions');
  const client = clientOf(world, headers);
  const model = 'gpt-3.5-turbo-instruct' as const;
  const plain = await client.completions.create({ model, prompt: 'Once' });
  t.equal(plain.choices[0]?.text, ' and so on after Once');
  const chunks = await collect(await client.completions.create({ model, prompt: 'Once', stream: true }));
  t.equal(chunks.map(({ choices }) => choices[0]?.text ?? '').join(''), ' and so on after Once');
  t.notOk(
    chunks.some(({ choices }) => choices.length === 0),
    'usage was not asked for',
  );
  const { prompt_tokens: prompt, completion_tokens: completion } = plain.usage ?? {};
  const place = { path: '/v1/completions', provider: 'OPENAI', model };
  for (const record of await logged(2)) {
    checkTokens(t, record, { prompt, completion }, place);
    t.match(record.response_body, { object: 'text_completion', choices: [{ text: / after Once$/ }] });
  }
}

/** Everyone may see the models, all and each alone: nobody needs a key for them. */
export async function models(t: Test, world: World): Promise<void> {
  const client = clientOf(world, {}, { apiKey: 'none' });
  const ids = (await collect(client.models.list())).map(({ id }) => id);
  t.ok(ids.includes(MODEL) && ids.includes('claude-haiku-4-5'), 'of every maker');
  t.equal(new Set(ids).size, ids.length);
  t.match(await client.models.retrieve(MODEL), { id: MODEL, object: 'model', owned_by: 'openai' });
  const unknown = client.models.retrieve('no-such-model');
  await t.rejects(unknown, { status: 404, code: 'model_not_found' } as unknown as Error);
}
