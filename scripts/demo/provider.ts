/**
 * The demo's model provider: local, so that no key is needed, with responses that look like a model's. It implements the part
 * of OpenAI's chat completions that the demo's calls need, and fails when the question is a command such as `/status 429`.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXCHANGES } from './conversations.ts';

export type DemoProvider = {
  /** The base URL for `OPENAI_BASE_URL`. */
  url: string;
  stop(): Promise<void>;
};

type ChatRequest = {
  model: string;
  messages: { role: string; content: string | null }[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  tools?: { function: { name: string; parameters?: { properties?: Record<string, ToolParameter> } } }[];
};
type ToolParameter = { type?: string; enum?: string[] };

const FIRST_TOKEN_MS = 30;
const TOKEN_MS = 6;
/** A model that the provider refuses, so that lists of models have something to fall back from. */
const UNKNOWN_MODEL = 'no-such-model';
/** Words of the response to `/slow`, which takes the number of milliseconds in the command. */
const SLOW_WORDS = 20;

function lastQuestion({ messages }: ChatRequest): string {
  return messages.findLast(({ role }) => role === 'user')?.content ?? '';
}

/** Cuts a text into words, each with the space before it. */
function words(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

/** Counts tokens as providers do on average: one for every four characters. */
function countTokens(text: string): number {
  return Math.max(1, Math.ceil(text.length / 4));
}

function usageOf({ messages }: ChatRequest, answer: string) {
  const prompt = countTokens(messages.map(({ content }) => content ?? '').join('\n'));
  const completion = countTokens(answer);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

function answerTo(chat: ChatRequest): string {
  const question = lastQuestion(chat);
  return EXCHANGES.find((known) => known.question === question)?.answer ?? `You said: ${question}`;
}

const CREATED_SECONDS = 1_767_225_600;

function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** Runs a command that makes the call fail. Returns whether the text was a command. */
function fail(command: string, argument: string, response: ServerResponse): boolean {
  if (command === 'status') {
    const error = {
      message: `The demo's provider failed with ${argument}`,
      type: 'server_error',
      code: null,
    };
    sendJson(response, Number(argument), { error }, argument === '429' ? { 'retry-after': '1' } : {});
  } else if (command === 'html') {
    response.writeHead(Number(argument), { 'content-type': 'text/html' });
    response.end('<html><body><h1>Bad gateway</h1></body></html>');
  } else if (command === 'cut') response.destroy();
  else return false;
  return true;
}

/** Returns what a judge is asked to submit. The score is 1 where any number is allowed. */
function verdictFor(score: ToolParameter) {
  const verdict = score.type === 'boolean' ? true : (score.enum?.at(-1) ?? 1);
  return { reasoning: "The demo's provider is content with every answer.", score: verdict };
}

/** Calls the first tool of the request, unless the last message is a tool's result. */
function toolCallsFor({ tools, messages }: ChatRequest) {
  const tool = tools?.[0]?.function;
  if (tool === undefined || messages.at(-1)?.role === 'tool') return undefined;
  const score = tool.parameters?.properties?.score;
  const given = score === undefined ? { query: 'Oslo' } : verdictFor(score);
  const call = { name: tool.name, arguments: JSON.stringify(given) };
  return [{ id: 'call_0', type: 'function', function: call }];
}

async function sendCompletion(chat: ChatRequest, response: ServerResponse): Promise<void> {
  const toolCalls = toolCallsFor(chat);
  const content = toolCalls === undefined ? answerTo(chat) : null;
  await sleep(FIRST_TOKEN_MS + TOKEN_MS * words(content ?? '').length);
  const message = { role: 'assistant', content, ...(toolCalls && { tool_calls: toolCalls }) };
  const finish_reason = toolCalls === undefined ? 'stop' : 'tool_calls';
  sendJson(response, 200, {
    id: 'chatcmpl-demo',
    object: 'chat.completion',
    created: CREATED_SECONDS,
    model: chat.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    usage: usageOf(chat, content ?? ''),
  });
}

async function sendStream(chat: ChatRequest, response: ServerResponse, slowMs: number): Promise<void> {
  const deltas =
    slowMs === 0 ? words(answerTo(chat)) : Array.from({ length: SLOW_WORDS }, (_, i) => `word${i} `);
  const chunk = (choices: unknown[], more = {}) => {
    const head = { id: 'chatcmpl-demo', object: 'chat.completion.chunk', created: CREATED_SECONDS };
    response.write(`data: ${JSON.stringify({ ...head, model: chat.model, choices, ...more })}\n\n`);
  };
  const choice = (delta: unknown, finish_reason: string | null = null) => [
    { index: 0, delta, finish_reason },
  ];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  await sleep(FIRST_TOKEN_MS);
  chunk(choice({ role: 'assistant', content: '' }));
  for (const content of deltas) {
    if (response.destroyed) return;
    chunk(choice({ content }));
    await sleep(slowMs === 0 ? TOKEN_MS : slowMs / deltas.length);
  }
  chunk(choice({}, 'stop'));
  if (chat.stream_options?.include_usage === true) chunk([], { usage: usageOf(chat, deltas.join('')) });
  response.end('data: [DONE]\n\n');
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chat = (await json(request)) as ChatRequest;
  if (chat.model === UNKNOWN_MODEL) {
    const message = `The model '${UNKNOWN_MODEL}' does not exist`;
    return sendJson(response, 404, {
      error: { message, type: 'invalid_request_error', code: 'model_not_found' },
    });
  }
  const [, command = '', argument = ''] = /^\/([a-z]+) (\S+)/.exec(lastQuestion(chat)) ?? [];
  if (fail(command, argument, response)) return;
  if (chat.stream === true) await sendStream(chat, response, command === 'slow' ? Number(argument) : 0);
  else await sendCompletion(chat, response);
}

/** Starts the provider on a free port. */
export async function startDemoProvider(): Promise<DemoProvider> {
  const server = createServer((request, response) => {
    // A request without a body, such as the one for the list of models: the connection is closed, and the list is empty.
    serve(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
