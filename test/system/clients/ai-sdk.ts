/** The `ai` package with `@ai-sdk/openai-compatible`. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import type { Test } from 'tap';
import { countUsage } from '../../support/scripted-provider.ts';
import { checkTokens, MODEL } from './records.ts';
import { collect, type World } from './world.ts';

const PROMPT = 'What is the weather in 東京?';
const ANSWER = `You said: ${PROMPT}`;

function modelOf(world: World, headers: Record<string, string>, includeUsage: boolean) {
  const { baseUrl, apiKey } = world;
  return createOpenAICompatible({ name: 'assay', baseURL: baseUrl, apiKey, headers, includeUsage }).chatModel(
    MODEL,
  );
}

export async function generate(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('ai generate');
  const { text, usage } = await generateText({
    model: modelOf(world, headers, false),
    prompt: PROMPT,
    maxRetries: 0,
  });
  t.equal(text, ANSWER);
  const [record] = await logged(1);
  checkTokens(t, record, { prompt: usage.inputTokens, completion: usage.outputTokens });
}

export async function stream(t: Test, world: World): Promise<void> {
  for (const includesUsage of [false, true]) {
    const { headers, logged } = world.newCase(`ai stream, usage ${includesUsage}`);
    const model = modelOf(world, headers, includesUsage);
    const result = streamText({ model, prompt: PROMPT, maxRetries: 0 });
    t.equal((await collect(result.textStream)).join(''), ANSWER);
    t.equal(await result.finishReason, 'stop');
    const usage = await result.usage;
    const [record] = await logged(1);
    const counted = countUsage({ messages: [{ role: 'user', content: PROMPT }] }, ANSWER);
    checkTokens(t, record, { prompt: counted.promptTokens, completion: counted.completionTokens });
    t.equal(usage.totalTokens, includesUsage ? record?.total_tokens : undefined);
  }
}

/** The package runs the tool and asks again: two calls, the second with the tool's result. */
export async function tools(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('ai tools');
  const asked: unknown[] = [];
  const weather = tool({
    description: 'The weather somewhere',
    inputSchema: jsonSchema<{ query: string }>({ type: 'object', properties: { query: { type: 'string' } } }),
    execute: async (input) => {
      asked.push(input);
      return { celsius: 21 };
    },
  });
  const { text, steps } = await generateText({
    model: modelOf(world, headers, false),
    prompt: PROMPT,
    tools: { weather },
    stopWhen: stepCountIs(2),
    maxRetries: 0,
  });
  t.same(asked, [{ query: PROMPT }]);
  t.equal(steps.length, 2);
  t.equal(text, 'The tool said: {"celsius":21}');
  const records = await logged(2);
  t.match(records[1]?.request_body.messages?.at(-1), { role: 'tool' });
}

export async function errors(t: Test, world: World): Promise<void> {
  for (const status of [400, 429, 500]) {
    const { headers, logged } = world.newCase(`ai error ${status}`);
    const call = generateText({
      model: modelOf(world, headers, false),
      prompt: `/status ${status}`,
      maxRetries: 0,
    });
    const error = await call.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    t.ok(APICallError.isInstance(error), `${status} is an APICallError`);
    t.match(error, {
      statusCode: status,
      message: `Scripted failure with status ${status}`,
      isRetryable: status !== 400,
    });
    t.match(await logged(1), [{ response_status: status }]);
  }
}
