/**
 * Unmodified clients, only their base URL and key set, against everything running as an operator runs it, under both
 * runtimes: they get what the provider said, and each of their calls is found, once, with its tokens and cost.
 */
import t, { type Test } from 'tap';
import * as aiSdk from './ai-sdk.ts';
import * as langchain from './langchain.ts';
import * as openai from './openai.ts';
import * as openaiErrors from './openai-errors.ts';
import { startWorld, type World } from './world.ts';

const CASES: [title: string, run: (t: Test, world: World) => Promise<void>][] = [
  ['openai: a plain call', openai.plain],
  ['openai: a stream, with and without usage', openai.stream],
  ['openai: the stream helper', openai.streamHelper],
  ['openai: tool calls, plain and streamed', openai.tools],
  ['openai: the provider’s errors come as their own classes', openaiErrors.providerErrors],
  ['openai: a broken provider is an error of OpenAI’s shape', openaiErrors.brokenProvider],
  ['openai: a stream that breaks is an error after what came', openaiErrors.brokenStream],
  ['openai: the gateway’s own errors come as their own classes', openaiErrors.gatewayErrors],
  ['openai: each of the client’s own retries is a record', openaiErrors.retries],
  ['openai: a caller brings its own provider key', openai.ownProviderKey],
  ['openai: an abort stops the provider', openaiErrors.abort],
  ['ai: generateText', aiSdk.generate],
  ['ai: streamText, with and without usage', aiSdk.stream],
  ['ai: a tool loop', aiSdk.tools],
  ['ai: errors', aiSdk.errors],
  ['langchain: invoke', langchain.invoke],
  ['langchain: stream', langchain.stream],
  ['langchain: tool calls', langchain.tools],
  ['langchain: errors', langchain.errors],
];

for (const runtime of ['node', 'deno'] as const) {
  t.test(`services under ${runtime}`, async (t) => {
    const world = await startWorld(t, runtime);
    for (const [title, run] of CASES) await t.test(title, (t) => run(t, world));
    await t.test('no call of a client is recorded twice', (t) => world.checkNoneTwice(t));
  });
}
