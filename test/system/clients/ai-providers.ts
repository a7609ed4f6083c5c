/** The `ai` package with `@ai-sdk/openai` and `@ai-sdk/anthropic`: what it gets when all goes well. */
import { embed, embedMany, generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai';
import type { Test } from 'tap';
import { AI_MODELS, embedderOf } from './ai-models.ts';
import { JSON_SCHEMA, type Query } from './models/asked.ts';
import { checkTokens, EMBEDDINGS_PLACE } from './records.ts';
import { collect, type World } from './world.ts';

const PROMPT = 'What is the weather in 東京?';
const ASKED = { prompt: PROMPT, maxOutputTokens: 100, maxRetries: 0 };
const ANSWER = `You said: ${PROMPT}`;

export async function generate(t: Test, world: World): Promise<void> {
  for (const { name, place, model } of AI_MODELS) {
    const { headers, logged } = world.newCase(`ai ${name} generate`);
    const { text, usage, finishReason, response } = await generateText({
      model: model(world, headers),
      ...ASKED,
    });
    t.equal(text, ANSWER);
    t.equal(finishReason, 'stop');
    const [record] = await logged(1);
    checkTokens(t, record, { prompt: usage.inputTokens, completion: usage.outputTokens }, place);
    t.equal(record?.request_id, response.headers?.['service-request-id']);
  }
}

export async function stream(t: Test, world: World): Promise<void> {
  for (const { name, place, model } of AI_MODELS) {
    const { headers, logged } = world.newCase(`ai ${name} stream`);
    const result = streamText({ model: model(world, headers), ...ASKED });
    const pieces = await collect(result.textStream);
    t.equal(pieces.join(''), ANSWER);
    t.ok(pieces.length > 3, 'in more than one piece');
    t.equal(await result.finishReason, 'stop');
    const usage = await result.usage;
    const [record] = await logged(1);
    checkTokens(t, record, { prompt: usage.inputTokens, completion: usage.outputTokens }, place);
    t.ok(record?.delivery.stream);
  }
}

/** The package runs the tool and asks again, plain and streamed: two calls, the second with the tool's result. */
export async function tools(t: Test, world: World): Promise<void> {
  for (const { name, place, model } of AI_MODELS) {
    const heard: Query[] = [];
    const weather = tool({
      description: 'The weather somewhere',
      inputSchema: jsonSchema<Query>(JSON_SCHEMA),
      execute: async (input) => {
        heard.push(input);
        return '21 °C';
      },
    });
    const { headers, logged } = world.newCase(`ai ${name} tools`);
    const asked = {
      model: model(world, headers),
      ...ASKED,
      tools: { weather },
      stopWhen: stepCountIs(2),
    };
    const { text, steps } = await generateText(asked);
    t.equal(text, 'The tool said: 21 °C', name);
    t.equal(steps.length, 2);
    const streamed = streamText(asked);
    t.equal((await collect(streamed.textStream)).join(''), 'The tool said: 21 °C', `${name}, streamed`);
    t.same(heard, [{ query: PROMPT }, { query: PROMPT }]);
    const records = await logged(4);
    for (const record of records) {
      t.match(record, { provider: place.provider, request_path: place.path, response_status: 200 });
    }
    t.same(
      records.map(({ delivery }) => delivery.stream),
      [false, false, true, true],
    );
  }
}

export async function structured(t: Test, world: World): Promise<void> {
  for (const { name, place, model } of AI_MODELS) {
    const { headers, logged } = world.newCase(`ai ${name} structured`);
    const asked = {
      model: model(world, headers),
      ...ASKED,
      output: Output.object({ schema: jsonSchema<Query>(JSON_SCHEMA) }),
    };
    const { output, usage } = await generateText(asked);
    t.same(output, { query: PROMPT }, name);
    const streamed = streamText(asked);
    const partial = await collect(streamed.partialOutputStream);
    t.same(partial.at(-1), { query: PROMPT }, `${name}, streamed`);
    const [record] = await logged(2);
    checkTokens(t, record, { prompt: usage.inputTokens, completion: usage.outputTokens }, place);
  }
}

export async function embeddings(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('ai embeddings');
  const model = embedderOf(world, headers);
  const one = await embed({ model, value: 'sunny', maxRetries: 0 });
  t.same(one.embedding, [0.25, -0.5, 0.125]);
  const many = await embedMany({ model, values: ['sunny', 'rainy'], maxRetries: 0 });
  t.equal(many.embeddings.length, 2);
  const records = await logged(2);
  checkTokens(t, records[0], { prompt: one.usage.tokens, completion: 0 }, EMBEDDINGS_PLACE);
  checkTokens(t, records[1], { prompt: many.usage.tokens, completion: 0 }, EMBEDDINGS_PLACE);
  t.match(records[1]?.request_body, { input: ['sunny', 'rainy'] });
}
