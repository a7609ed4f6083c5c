/** The `@langchain/openai` package. */
import { HumanMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import type { Test } from 'tap';
import { checkTokens, MODEL } from './records.ts';
import { collect, type World } from './world.ts';

const QUESTION = 'Say "hello" in Português';
const ANSWER = `You said: ${QUESTION}`;

function chatOf(world: World, headers: Record<string, string>): ChatOpenAI {
  const { baseUrl: baseURL, apiKey } = world;
  return new ChatOpenAI({
    model: MODEL,
    apiKey,
    maxRetries: 0,
    configuration: { baseURL, defaultHeaders: headers },
  });
}

export async function invoke(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('langchain invoke');
  const message = await chatOf(world, headers).invoke([new HumanMessage(QUESTION)]);
  t.equal(message.content, ANSWER);
  const [record] = await logged(1);
  const { input_tokens: prompt, output_tokens: completion } = message.usage_metadata ?? {};
  checkTokens(t, record, { prompt, completion });
}

/** This client always asks for the usage of a stream. */
export async function stream(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('langchain stream');
  const chunks = await collect(await chatOf(world, headers).stream(QUESTION));
  t.equal(chunks.map((chunk) => chunk.content).join(''), ANSWER);
  const [record] = await logged(1);
  const usage = chunks.map((chunk) => chunk.usage_metadata).findLast((found) => found !== undefined);
  checkTokens(t, record, { prompt: usage?.input_tokens, completion: usage?.output_tokens });
}

export async function tools(t: Test, world: World): Promise<void> {
  const { headers, logged } = world.newCase('langchain tools');
  const parameters = { type: 'object', properties: { query: { type: 'string' } } };
  const lookUp = { type: 'function' as const, function: { name: 'look_up', parameters } };
  const message = await chatOf(world, headers).bindTools([lookUp]).invoke(QUESTION);
  t.match(message.tool_calls, [{ name: 'look_up', args: { query: QUESTION }, id: 'call_0' }]);
  await logged(1);
}

export async function errors(t: Test, world: World): Promise<void> {
  for (const status of [401, 429, 500]) {
    const { headers, logged } = world.newCase(`langchain error ${status}`);
    await t.rejects(chatOf(world, headers).invoke(`/status ${status}`), { status } as unknown as Error);
    t.match(await logged(1), [{ response_status: status }]);
  }
}
