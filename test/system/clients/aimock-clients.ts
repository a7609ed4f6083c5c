/** What each client does against aimock: the same five things, each in the client's own way. */

import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { HumanMessage } from '@langchain/core/messages';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { Agent, tool as agentTool, OpenAIProvider, Runner, setOpenAIAPI } from '@openai/agents';
import { generateText, jsonSchema, type LanguageModel, Output, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { z } from 'zod';
import { JSON_SCHEMA, type Query } from './models/asked.ts';
import { CLAUDE, EMBEDDER, MODEL } from './records.ts';
import { collect } from './world.ts';

/** The gateway, a key for it, and headers that all calls of a case carry. */
export type Access = { url: string; apiKey: string; headers: Record<string, string> };

export type Client = {
  name: string;
  /** What the answer says. */
  chat(question: string): Promise<string>;
  stream(question: string): Promise<string>;
  /** What the model wants to know of the tool `get_weather`. */
  tools(question: string): Promise<unknown>;
  structured(question: string): Promise<unknown>;
};

const WEATHER = { name: 'get_weather', description: 'The weather somewhere', parameters: JSON_SCHEMA };
const FUNCTION = { type: 'function' as const, function: WEATHER };
const asked = (content: string) => [{ role: 'user' as const, content }];

function openAiOf({ url, apiKey, headers }: Access): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, defaultHeaders: headers, maxRetries: 0 });
}

function openAiChat(access: Access, model: string): Client {
  const { chat } = openAiOf(access);
  const answer = async (question: string, more: object) =>
    (await chat.completions.create({ model, messages: asked(question), ...more })).choices[0]!.message;
  const format = { type: 'json_schema', json_schema: { name: 'query', schema: JSON_SCHEMA } };
  return {
    name: `openai chat completions of ${model}`,
    chat: async (question) => (await answer(question, {})).content!,
    stream: async (question) => {
      const chunks = await chat.completions.create({ model, messages: asked(question), stream: true });
      return (await collect(chunks)).map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    },
    tools: async (question) => {
      const [call] = (await answer(question, { tools: [FUNCTION] })).tool_calls!;
      return call?.type === 'function' ? JSON.parse(call.function.arguments) : null;
    },
    structured: async (question) =>
      JSON.parse((await answer(question, { response_format: format })).content!),
  };
}

function openAiResponses(access: Access): Client {
  const { responses } = openAiOf(access);
  const body = (input: string) => ({ model: MODEL, input });
  return {
    name: 'openai responses',
    chat: async (question) => (await responses.create(body(question))).output_text,
    stream: async (question) => {
      const events = await collect(await responses.create({ ...body(question), stream: true }));
      return events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('');
    },
    tools: async (question) => {
      const tools = [{ type: 'function' as const, strict: false, ...WEATHER }];
      const [call] = (await responses.create({ ...body(question), tools })).output;
      return call?.type === 'function_call' ? JSON.parse(call.arguments) : null;
    },
    structured: async (question) => {
      const text = { format: { type: 'json_schema' as const, name: 'query', schema: JSON_SCHEMA } };
      return JSON.parse((await responses.create({ ...body(question), text })).output_text);
    },
  };
}

function anthropicMessages({ url, apiKey, headers }: Access, model: string): Client {
  const { messages } = new Anthropic({ baseURL: url, apiKey, defaultHeaders: headers, maxRetries: 0 });
  const body = (question: string) => ({ model, max_tokens: 100, messages: asked(question) });
  const textOf = ({ content }: Anthropic.Message) =>
    content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return {
    name: `anthropic messages of ${model}`,
    chat: async (question) => textOf(await messages.create(body(question))),
    stream: async (question) => textOf(await messages.stream(body(question)).finalMessage()),
    tools: async (question) => {
      const input_schema = { ...JSON_SCHEMA, required: [...JSON_SCHEMA.required] };
      const tools = [{ name: WEATHER.name, input_schema }];
      const { content } = await messages.create({ ...body(question), tools });
      return content.find((block) => block.type === 'tool_use')?.input;
    },
    structured: async (question) => {
      const format = { type: 'json_schema' as const, schema: JSON_SCHEMA };
      return JSON.parse(textOf(await messages.create({ ...body(question), output_config: { format } })));
    },
  };
}

function ai(name: string, model: LanguageModel): Client {
  const ask = (prompt: string) => ({ model, prompt, maxOutputTokens: 100, maxRetries: 0 });
  return {
    name: `ai with ${name}`,
    chat: async (question) => (await generateText(ask(question))).text,
    stream: async (question) => {
      // Errors are told by the stream, and by no log.
      const { textStream } = streamText({ ...ask(question), onError: () => {} });
      return (await collect(textStream)).join('');
    },
    tools: async (question) => {
      const heard: Query[] = [];
      const weather = tool({
        inputSchema: jsonSchema<Query>(JSON_SCHEMA),
        execute: async (input) => heard.push(input),
      });
      await generateText({ ...ask(question), tools: { get_weather: weather }, stopWhen: stepCountIs(1) });
      return heard[0];
    },
    structured: async (question) => {
      const output = Output.object({ schema: jsonSchema<Query>(JSON_SCHEMA) });
      return (await generateText({ ...ask(question), output })).output;
    },
  };
}

function langchain({ url, apiKey, headers }: Access): Client {
  const configuration = { baseURL: `${url}/v1`, defaultHeaders: headers };
  const chat = new ChatOpenAI({ model: MODEL, apiKey, maxRetries: 0, configuration });
  const said = (question: string) => [new HumanMessage(question)];
  return {
    name: 'langchain',
    chat: async (question) => (await chat.invoke(said(question))).text,
    stream: async (question) =>
      (await collect(await chat.stream(said(question)))).map(({ text }) => text).join(''),
    tools: async (question) =>
      (await chat.bindTools([FUNCTION]).invoke(said(question))).tool_calls?.[0]?.args,
    structured: (question) =>
      chat.withStructuredOutput(JSON_SCHEMA, { method: 'jsonSchema', name: 'query' }).invoke(question),
  };
}

function agents(access: Access, api: 'responses' | 'chat_completions'): Client {
  const run = (agent: { outputType?: z.ZodObject; heard?: unknown[] }) => {
    setOpenAIAPI(api);
    const parameters = z.object({ query: z.string() });
    const weather = agentTool({
      name: WEATHER.name,
      description: WEATHER.description,
      parameters,
      execute: async (input) => String(agent.heard?.push(input)),
    });
    const runner = new Runner({
      modelProvider: new OpenAIProvider({ openAIClient: openAiOf(access) }),
      tracingDisabled: true,
    });
    const tools = agent.heard === undefined ? [] : [weather];
    const { outputType } = agent;
    const made = new Agent({ name: 'A', model: MODEL, tools, ...(outputType && { outputType }) });
    return { runner, made };
  };
  return {
    name: `agents over ${api}`,
    chat: async (question) => {
      const { runner, made } = run({});
      return String((await runner.run(made, question)).finalOutput);
    },
    stream: async (question) => {
      const { runner, made } = run({});
      const result = await runner.run(made, question, { stream: true });
      const text = (await collect(result.toTextStream())).join('');
      await result.completed;
      return text;
    },
    tools: async (question) => {
      const heard: unknown[] = [];
      const { runner, made } = run({ heard });
      await runner.run(made, question);
      return heard[0];
    },
    structured: async (question) => {
      const { runner, made } = run({ outputType: z.object({ query: z.string() }) });
      return (await runner.run(made, question)).finalOutput;
    },
  };
}

/** A model of OpenAI's that reasons. */
const REASONER = 'gpt-5.6';

export function clientsOf(access: Access): Client[] {
  const { url, apiKey, headers } = access;
  const options = { baseURL: `${url}/v1`, apiKey, headers };
  return [
    openAiChat(access, MODEL),
    openAiChat(access, CLAUDE),
    openAiResponses(access),
    anthropicMessages(access, CLAUDE),
    anthropicMessages(access, MODEL),
    // Translated into OpenAI's Responses.
    anthropicMessages(access, REASONER),
    ai(
      'openai-compatible',
      createOpenAICompatible({ name: 'assay', supportsStructuredOutputs: true, ...options }).chatModel(MODEL),
    ),
    ai('openai', createOpenAI(options)(MODEL)),
    ai('anthropic', createAnthropic(options)(CLAUDE)),
    langchain(access),
    agents(access, 'responses'),
    agents(access, 'chat_completions'),
  ];
}

/** What each embeds a text as. */
export function embeddersOf(access: Access): ((text: string) => Promise<number[]>)[] {
  const configuration = { baseURL: `${access.url}/v1`, defaultHeaders: access.headers };
  const { apiKey } = access;
  const embedder = new OpenAIEmbeddings({ model: EMBEDDER, apiKey, maxRetries: 0, configuration });
  return [
    async (input) =>
      (await openAiOf(access).embeddings.create({ model: EMBEDDER, input })).data[0]!.embedding,
    (text) => embedder.embedQuery(text),
  ];
}
