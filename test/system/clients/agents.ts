/** The `@openai/agents` package, over Responses as it does by default, and over chat completions. */
import { Agent, type AgentInputItem, OpenAIProvider, Runner, setOpenAIAPI, tool } from '@openai/agents';
import OpenAI from 'openai';
import type { Test } from 'tap';
import { z } from 'zod';
import { checkAborts } from './aborts.ts';
import type { Query } from './models/asked.ts';
import { clientOf } from './openai-client.ts';
import {
  CHAT_PLACE,
  CLAUDE,
  checkFailure,
  checkTokens,
  MODEL,
  type Place,
  RESPONSES_PLACE,
} from './records.ts';
import { collect, type World } from './world.ts';

const QUESTION = 'What is the weather in 東京?';
const QUERY = z.object({ query: z.string() });

type Api = { api: 'responses' | 'chat_completions'; place: Place };

const APIS: readonly Api[] = [
  { api: 'responses', place: RESPONSES_PLACE },
  { api: 'chat_completions', place: CHAT_PLACE },
];
const TO_CLAUDE: Api = {
  api: 'chat_completions',
  place: { ...CHAT_PLACE, provider: 'ANTHROPIC', model: CLAUDE },
};

/** Runs agents with a client as anybody would make it, over this surface. */
function runnerOf(world: World, headers: Record<string, string>, { api }: Api): Runner {
  setOpenAIAPI(api);
  const modelProvider = new OpenAIProvider({ openAIClient: clientOf(world, headers) });
  // Traces would go to OpenAI, whatever the client's base URL.
  return new Runner({ modelProvider, tracingDisabled: true });
}

function weatherAgent(heard: Query[], { place }: Api): Agent {
  const weather = tool({
    name: 'get_weather',
    description: 'The weather somewhere',
    parameters: QUERY,
    execute: async (input) => {
      heard.push(input);
      return '21 °C';
    },
  });
  return new Agent({ name: 'Forecaster', instructions: 'Be brief', model: place.model, tools: [weather] });
}

/** The agent calls its tool and then answers: two calls, the second with the tool's result. */
export async function steps(t: Test, world: World): Promise<void> {
  for (const api of [...APIS, TO_CLAUDE]) {
    const { headers, logged } = world.newCase(`agents ${api.api} ${api.place.provider}`);
    const runner = runnerOf(world, headers, api);
    const heard: Query[] = [];
    const { finalOutput, rawResponses } = await runner.run(weatherAgent(heard, api), QUESTION);
    t.equal(finalOutput, 'The tool said: 21 °C');
    t.same(heard, [{ query: QUESTION }]);
    const records = await logged(2);
    for (const [index, record] of records.entries()) {
      const { inputTokens: prompt, outputTokens: completion } = rawResponses[index]?.usage ?? {};
      checkTokens(t, record, { prompt, completion }, api.place);
    }
  }
}

export async function streamedSteps(t: Test, world: World): Promise<void> {
  for (const api of [...APIS, TO_CLAUDE]) {
    const { headers, logged } = world.newCase(`agents ${api.api} ${api.place.provider} streamed`);
    const runner = runnerOf(world, headers, api);
    const heard: Query[] = [];
    const result = await runner.run(weatherAgent(heard, api), QUESTION, { stream: true });
    t.equal((await collect(result.toTextStream())).join(''), 'The tool said: 21 °C');
    await result.completed;
    t.same(heard, [{ query: QUESTION }]);
    const records = await logged(2);
    for (const [index, record] of records.entries()) {
      const { inputTokens: prompt, outputTokens: completion } = result.rawResponses[index]?.usage ?? {};
      checkTokens(t, record, { prompt, completion }, api.place);
      t.ok(record.delivery.stream);
    }
  }
}

/** A second run goes on where the first one ended. */
export async function conversation(t: Test, world: World): Promise<void> {
  for (const api of APIS) {
    const { headers, logged } = world.newCase(`agents ${api.api} conversation`);
    const runner = runnerOf(world, headers, api);
    const agent = new Agent({ name: 'Listener', model: MODEL });
    const first = await runner.run(agent, 'My name is Ada');
    const next: AgentInputItem[] = [...first.history, { role: 'user', content: 'What is my name?' }];
    const { finalOutput } = await runner.run(agent, next);
    t.equal(finalOutput, 'You said: What is my name?');
    const [, second] = await logged(2);
    t.match(JSON.stringify(second?.request_body), /My name is Ada.*What is my name\?/);
  }
}

export async function structured(t: Test, world: World): Promise<void> {
  for (const api of [...APIS, TO_CLAUDE]) {
    const { headers, logged } = world.newCase(`agents ${api.api} ${api.place.provider} structured`);
    const runner = runnerOf(world, headers, api);
    const agent = new Agent({ name: 'Clerk', model: api.place.model, outputType: QUERY });
    const { finalOutput } = await runner.run(agent, QUESTION);
    t.same(finalOutput, { query: QUESTION });
    t.match(await logged(1), [{ provider: api.place.provider, request_path: api.place.path }]);
  }
}

export async function errors(t: Test, world: World): Promise<void> {
  for (const api of APIS) {
    for (const [status, type] of [
      [401, OpenAI.AuthenticationError],
      [429, OpenAI.RateLimitError],
      [500, OpenAI.InternalServerError],
    ] as const) {
      const { headers, logged } = world.newCase(`agents ${api.api} error ${status}`);
      const runner = runnerOf(world, headers, api);
      const agent = new Agent({ name: 'Unlucky', model: MODEL });
      const error = await runner.run(agent, `/status ${status}`).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      t.type(error, type, `${status} is a ${type.name}`);
      const [record] = await logged(1);
      checkFailure(t, record, status, api.place);
    }
  }
}

export async function abort(t: Test, world: World): Promise<void> {
  for (const api of APIS) {
    await checkAborts(t, world, {
      name: `agents ${api.api}`,
      provider: world.provider,
      path: api.place.path,
      isAbortError: (error) => error instanceof OpenAI.APIUserAbortError,
      call: async (question, { headers, stream, signal, onPiece }) => {
        const runner = runnerOf(world, headers, api);
        const agent = new Agent({ name: 'Slow', model: MODEL });
        if (!stream) return void (await runner.run(agent, question, { signal }));
        const result = await runner.run(agent, question, { stream: true, signal });
        for await (const _ of result.toTextStream()) onPiece();
        await result.completed;
      },
    });
  }
}
