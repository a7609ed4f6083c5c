/** The script of a provider that is OpenAI: the default one's chat completions, models and embeddings, and the rest. */
import {
  errorJson,
  parseChatRequest,
  streamFrames,
  words,
} from '../../../support/scripted/openai-dialect.ts';
import {
  type Behaviour,
  countTokens,
  defaultScript,
  type RecordedRequest,
} from '../../../support/scripted-provider.ts';
import { sayTo, textOf } from './asked.ts';
import { respond } from './responses.ts';

/** A model that has begun to answer tells of an error, and ends the stream as ever: some hosts of models do that. */
function failing(request: RecordedRequest): Behaviour {
  const begun = [...streamFrames({ kind: 'stream', ending: 'cut' }, parseChatRequest(request.body))];
  const told = errorJson(500, { message: 'The model failed', code: 'server_error' });
  const body = `${begun.join('')}data: ${JSON.stringify(told)}\n\ndata: [DONE]\n\n`;
  return { kind: 'bytes', headers: { 'content-type': 'text/event-stream' }, body };
}

/** The default answers, but for what they do not react to: a tool's result, a wanted schema, `/fail`. */
function chat(request: RecordedRequest): Behaviour {
  const behaviour = defaultScript(request);
  const { messages = [], response_format } = parseChatRequest(request.body) as {
    messages?: { role?: string; content?: unknown }[];
    response_format?: { type?: string };
  };
  const last = messages.at(-1);
  const toolResult = last?.role === 'tool' ? textOf(last.content) : null;
  const wantsJson = response_format?.type === 'json_schema';
  const answers = behaviour.kind === 'answer' || behaviour.kind === 'stream';
  const question = textOf(messages.findLast(({ role }) => role === 'user')?.content);
  if (question === '/fail' && behaviour.kind === 'stream') return failing(request);
  if (!answers || behaviour.toolCalls !== undefined || (toolResult === null && !wantsJson)) return behaviour;
  const said = sayTo({ model: '', stream: false, question, tool: null, toolResult, wantsJson });
  const text = said.kind === 'text' ? said.text : '';
  return behaviour.kind === 'answer' ? { ...behaviour, text } : { ...behaviour, deltas: words(text) };
}

type CompletionRequest = {
  model: string;
  prompt: string;
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
};

/** https://platform.openai.com/docs/api-reference/completions */
function complete({ body }: RecordedRequest): Behaviour {
  const { model, prompt, stream, stream_options } = JSON.parse(body.toString()) as CompletionRequest;
  const base = { id: 'cmpl-scripted', object: 'text_completion', created: 1_767_225_600, model };
  const text = ` and so on after ${prompt}`;
  const [prompted, completed] = [countTokens(prompt), countTokens(text)];
  const usage = {
    prompt_tokens: prompted,
    completion_tokens: completed,
    total_tokens: prompted + completed,
  };
  const choice = (piece: string, finish_reason: string | null) => ({
    choices: [{ index: 0, text: piece, logprobs: null, finish_reason }],
  });
  if (stream !== true) return { kind: 'json', body: { ...base, ...choice(text, 'stop'), usage } };
  const chunks = [...words(text).map((piece) => choice(piece, null)), choice('', 'stop')];
  const frames = [...chunks, ...(stream_options?.include_usage === true ? [{ choices: [], usage }] : [])].map(
    (chunk) => `data: ${JSON.stringify({ ...base, ...chunk })}\n\n`,
  );
  const headers = { 'content-type': 'text/event-stream' };
  return { kind: 'bytes', headers, body: `${frames.join('')}data: [DONE]\n\n` };
}

/** https://platform.openai.com/docs/api-reference/moderations */
function moderate({ body }: RecordedRequest): Behaviour {
  const { input } = JSON.parse(body.toString()) as { input: string };
  const flagged = input.includes('violence');
  const results = [
    { flagged, categories: { violence: flagged }, category_scores: { violence: flagged ? 0.9 : 0 } },
  ];
  return { kind: 'json', body: { id: 'modr-scripted', model: 'omni-moderation-latest', results } };
}

/** Embeddings of `/status 429` fail, as chat completions do. */
function embed(request: RecordedRequest): Behaviour {
  const { input } = JSON.parse(request.body.toString()) as { input: string | string[] };
  const [, status] = /^\/status (\d+)$/.exec([input].flat()[0] ?? '') ?? [];
  return status === undefined ? defaultScript(request) : { kind: 'error', status: Number(status) };
}

const ENDPOINTS: Record<string, (request: RecordedRequest) => Behaviour> = {
  '/v1/chat/completions': chat,
  '/v1/responses': respond,
  '/v1/completions': complete,
  '/v1/moderations': moderate,
  '/v1/embeddings': embed,
};

/** The operator's key: any other but a caller's own is refused. */
export function openAiScript(request: RecordedRequest): Behaviour {
  if (request.headers.authorization === undefined) return { kind: 'json', status: 401, body: errorJson(401) };
  return (ENDPOINTS[request.path] ?? defaultScript)(request);
}
