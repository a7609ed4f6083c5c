/** The `@langchain/openai` package beyond chat completions: Responses and embeddings. */
import { type AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import type { Test } from 'tap';
import { checkAborts } from './aborts.ts';
import { JSON_SCHEMA } from './models/asked.ts';
import { checkFailure, checkTokens, EMBEDDER, EMBEDDINGS_PLACE, MODEL, RESPONSES_PLACE } from './records.ts';
import { collect, type World } from './world.ts';

const QUESTION = 'Say "hello" in Português';
const ANSWER = `You said: ${QUESTION}`;

function chatOf({ baseUrl: baseURL, apiKey }: World, defaultHeaders: Record<string, string>): ChatOpenAI {
  const configuration = { baseURL, defaultHeaders };
  return new ChatOpenAI({ model: MODEL, apiKey, maxRetries: 0, useResponsesApi: true, configuration });
}

function embedderOf({ baseUrl: baseURL, apiKey }: World, defaultHeaders: Record<string, string>) {
  const configuration = { baseURL, defaultHeaders };
  return new OpenAIEmbeddings({ model: EMBEDDER, apiKey, maxRetries: 0, configuration });
}

export async function invoke(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('langchain responses');
  const message = await chatOf(world, headers).invoke([new HumanMessage(QUESTION)]);
  t.equal(message.text, ANSWER);
  const { input_tokens: prompt, output_tokens: completion } = message.usage_metadata ?? {};
  const [record] = await logged(1);
  checkTokens(t, record, { prompt, completion }, RESPONSES_PLACE);
}

export async function stream(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('langchain responses stream');
  const chunks = await collect(await chatOf(world, headers).stream(QUESTION));
  t.equal(chunks.map((chunk) => chunk.text).join(''), ANSWER);
  const usage = chunks.map((chunk) => chunk.usage_metadata).findLast((found) => found !== undefined);
  const [record] = await logged(1);
  checkTokens(t, record, { prompt: usage?.input_tokens, completion: usage?.output_tokens }, RESPONSES_PLACE);
}

/** The tool's call, then its result. */
export async function tools(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('langchain responses tools');
  const lookUp = { type: 'function' as const, function: { name: 'look_up', parameters: JSON_SCHEMA } };
  const chat = chatOf(world, headers).bindTools([lookUp]);
  const asked = new HumanMessage(QUESTION);
  const message = await chat.invoke([asked]);
  t.match(message.tool_calls, [{ name: 'look_up', args: { query: QUESTION } }]);
  const result = new ToolMessage({ content: '21 °C', tool_call_id: message.tool_calls?.[0]?.id ?? '' });
  const answer = await chat.invoke([asked, message as AIMessage, result]);
  t.equal(answer.text, 'The tool said: 21 °C');
  t.match(await logged(2), [{ request_path: RESPONSES_PLACE.path }, { request_path: RESPONSES_PLACE.path }]);
}

export async function structured(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('langchain responses structured');
  const chat = chatOf(world, headers).withStructuredOutput(JSON_SCHEMA, { method: 'jsonSchema' });
  t.same(await chat.invoke(QUESTION), { query: QUESTION });
  t.match(await logged(1), [{ request_path: RESPONSES_PLACE.path, response_status: 200 }]);
}

export async function embeddings(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('langchain embeddings');
  const embedder = embedderOf(world, headers);
  t.same(await embedder.embedQuery('sunny'), [0.25, -0.5, 0.125]);
  t.equal((await embedder.embedDocuments(['sunny', 'rainy'])).length, 2);
  for (const record of await logged(2)) {
    checkTokens(t, record, { prompt: 3, completion: 0 }, EMBEDDINGS_PLACE);
  }
}

export async function errors(t: Test, world: World): Promise<void> {
  for (const status of [401, 429, 500]) {
    const { headers, logged } = world.newCase(`langchain responses error ${status}`);
    const failed = { status } as unknown as Error;
    await t.rejects(chatOf(world, headers).invoke(`/status ${status}`), failed);
    await t.rejects(embedderOf(world, headers).embedQuery(`/status ${status}`), failed);
    const [first, second] = await logged(2);
    checkFailure(t, first, status, RESPONSES_PLACE);
    checkFailure(t, second, status, EMBEDDINGS_PLACE);
  }
}

export async function abort(t: Test, world: World): Promise<void> {
  await checkAborts(t, world, {
    name: 'langchain responses',
    provider: world.provider,
    path: RESPONSES_PLACE.path,
    isAbortError: (error) => /abort/i.test(`${(error as Error).name} ${(error as Error).message}`),
    call: async (question, { headers, stream, signal, onPiece }) => {
      const chat = chatOf(world, headers);
      if (!stream) return void (await chat.invoke(question, { signal }));
      for await (const _ of await chat.stream(question, { signal })) onPiece();
    },
  });
}
