/**
 * What a scripted provider does when no script is given: simple clients just work, and a caller in another process
 * can ask for trouble, by the last user message (`/status 429`) or by the model (`scripted-status-429`).
 */
import type { Behaviour, RecordedRequest } from './behaviour.ts';
import { type ChatRequest, errorJson, lastUserText, parseChatRequest } from './openai-dialect.ts';

const MODELS = ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1-nano'];

/** Each directive: what to do, given its argument and whether a stream was asked for. */
const DIRECTIVES: Record<string, (argument: string, stream: boolean) => Behaviour> = {
  /** `/status 429`: an error with that status; 429 comes with `retry-after: 1`. */
  status: (argument) => {
    const status = Number(argument) || 500;
    return { kind: 'error', status, ...(status === 429 ? { headers: { 'retry-after': '1' } } : {}) };
  },
  html: (argument) => ({ kind: 'html', status: Number(argument) || 502 }),
  hang: () => ({ kind: 'hang' }),
  cut: (argument, stream) => {
    if (argument === 'headers') return { kind: 'cut', at: 'headers' };
    return stream ? { kind: 'stream', ending: 'cut', everyMs: 5 } : { kind: 'cut', at: 'body' };
  },
  stall: (_, stream) => (stream ? { kind: 'stream', ending: 'stall' } : { kind: 'hang' }),
  gzip: (_, stream) => ({ kind: stream ? 'stream' : 'answer', encoding: 'gzip' }),
  bytes: (_, stream) => (stream ? { kind: 'stream', chunking: { bytesEach: 1 } } : { kind: 'answer' }),
  echo: () => ({ kind: 'echo' }),
  refuse: (_, stream) => ({
    kind: stream ? 'stream' : 'answer',
    deltas: [],
    text: null,
    refusal: 'I cannot help with that',
  }),
  /** `/slow 500`: milliseconds before a plain answer; a stream takes them in all. */
  slow: (argument, stream) => {
    const delayMs = Number(argument) || 500;
    const deltas = Array.from({ length: 20 }, (_, i) => `word${i} `);
    return stream
      ? { kind: 'stream', deltas, everyMs: delayMs / deltas.length }
      : { kind: 'answer', delayMs };
  },
  /** `/words 100`: an answer of so many words. */
  words: (argument, stream) => {
    const deltas = Array.from({ length: Number(argument) || 20 }, (_, i) => `${i === 0 ? '' : ' '}word${i}`);
    return stream ? { kind: 'stream', deltas } : { kind: 'answer', text: deltas.join('') };
  },
};

function directive(chat: ChatRequest): [name: string, argument: string] | null {
  const said = /^\/([a-z]+)(?:\s+(\S+))?/.exec(lastUserText(chat));
  const named = /^scripted-([a-z]+)(?:-(\S+))?$/.exec(chat.model ?? '');
  const found = said ?? named;
  return found?.[1] === undefined || !(found[1] in DIRECTIVES) ? null : [found[1], found[2] ?? ''];
}

/** The first tool offered is called once, with the question as its argument, unless a tool's result is the last word. */
function toolCall(chat: ChatRequest): Pick<Extract<Behaviour, { kind: 'answer' }>, 'toolCalls'> {
  const name = chat.tools?.[0]?.function?.name;
  const isAnswered = chat.messages?.at(-1)?.role === 'tool';
  if (name === undefined || isAnswered || chat.tool_choice === 'none') return {};
  return { toolCalls: [{ name, arguments: JSON.stringify({ query: lastUserText(chat) }) }] };
}

function chatCompletion(request: RecordedRequest): Behaviour {
  const chat = parseChatRequest(request.body);
  const stream = chat.stream === true;
  const asked = directive(chat);
  if (asked !== null) return DIRECTIVES[asked[0]]!(asked[1], stream);
  return { kind: stream ? 'stream' : 'answer', ...toolCall(chat) };
}

function embeddings(request: RecordedRequest): Behaviour {
  const { input, model, encoding_format } = JSON.parse(request.body.toString()) as {
    input: string | string[];
    model: string;
    encoding_format?: string;
  };
  const vector = new Float32Array([0.25, -0.5, 0.125]);
  const embedding =
    encoding_format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector];
  const data = [input].flat().map((_, index) => ({ object: 'embedding', index, embedding }));
  return {
    kind: 'json',
    body: { object: 'list', data, model, usage: { prompt_tokens: 3, total_tokens: 3 } },
  };
}

function model(id: string) {
  return { id, object: 'model', created: 1_700_000_000, owned_by: 'openai' };
}

/** The default script. A request without a key, or with one that begins with `sk-wrong`, is refused as OpenAI does. */
export function defaultScript(request: RecordedRequest): Behaviour {
  const { authorization } = request.headers;
  if (authorization === undefined || authorization.startsWith('Bearer sk-wrong')) {
    return { kind: 'error', status: 401, message: 'Incorrect API key provided' };
  }
  const path = request.path.split('?')[0]!.replace(/^\/v1/, '');
  if (request.method === 'POST' && path === '/chat/completions') return chatCompletion(request);
  if (request.method === 'POST' && path === '/embeddings') return embeddings(request);
  if (path === '/models') return { kind: 'json', body: { object: 'list', data: MODELS.map(model) } };
  if (path.startsWith('/models/')) return { kind: 'json', body: model(path.slice('/models/'.length)) };
  return {
    kind: 'json',
    status: 404,
    body: errorJson(404, { message: `Invalid URL (${request.method} ${request.path})`, code: null }),
  };
}
