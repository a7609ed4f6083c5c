/** A scripted model of Anthropic's: `/v1/messages`, plain and streamed, and `/v1/messages/count_tokens`. */
import { type Behaviour, countTokens, type RecordedRequest } from '../../../support/scripted-provider.ts';
import { type Asked, idOf, piecesOf, type Said, textOf, tokensOf } from './asked.ts';
import { behave, frameOf, type ModelDialect } from './behave.ts';

type Message = { role: string; content: string | { type: string; content?: unknown; text?: string }[] };
type Request = {
  model: string;
  stream?: boolean;
  messages: Message[];
  tools?: { name: string }[];
  tool_choice?: { type: string };
  output_config?: { format?: unknown };
};

/** The operator's key. */
export const ANTHROPIC_KEY = 'sk-ant-operator';

/** https://platform.claude.com/docs/en/api/errors */
const ERROR_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

function toolResultIn(message: Message | undefined): string | null {
  if (message === undefined || typeof message.content === 'string') return null;
  const result = message.content.findLast(({ type }) => type === 'tool_result');
  return result === undefined ? null : textOf(result.content);
}

function read(body: Record<string, unknown>): Asked {
  const { model, stream = false, messages, tools, tool_choice, output_config } = body as Request;
  const users = messages.filter(({ role }) => role === 'user').map(({ content }) => textOf(content));
  return {
    model,
    stream,
    question: users.findLast((text) => text !== '') ?? '',
    tool: tool_choice?.type === 'none' ? null : (tools?.[0]?.name ?? null),
    toolResult: toolResultIn(messages.at(-1)),
    wantsJson: output_config?.format !== undefined,
  };
}

function stopReason(said: Said): string {
  return said.kind === 'call' ? 'tool_use' : 'end_turn';
}

/** A block of content, empty when it is going to be streamed. */
function block(asked: Asked, said: Said, isWhole: boolean) {
  if (said.kind === 'text') return { type: 'text', text: isWhole ? said.text : '' };
  return {
    type: 'tool_use',
    id: `toolu_${idOf(asked, said)}`,
    name: said.tool,
    input: isWhole ? said.input : {},
  };
}

function answer(asked: Asked, said: Said) {
  const { input, output } = tokensOf(asked, said);
  return {
    id: `msg_${idOf(asked, said)}`,
    type: 'message',
    role: 'assistant',
    model: asked.model,
    content: [block(asked, said, true)],
    stop_reason: stopReason(said),
    stop_sequence: null,
    usage: {
      input_tokens: input,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: output,
      service_tier: 'standard',
    },
  };
}

function stream(asked: Asked, said: Said): string[] {
  const { usage, ...whole } = answer(asked, said);
  const begun = { ...whole, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  const delta = (text: string) =>
    said.kind === 'text' ? { type: 'text_delta', text } : { type: 'input_json_delta', partial_json: text };
  const stop = { stop_reason: whole.stop_reason, stop_sequence: null };
  return [
    frameOf({ type: 'message_start', message: begun }),
    frameOf({ type: 'content_block_start', index: 0, content_block: block(asked, said, false) }),
    frameOf({ type: 'ping' }),
    ...piecesOf(said).map((text) => frameOf({ type: 'content_block_delta', index: 0, delta: delta(text) })),
    frameOf({ type: 'content_block_stop', index: 0 }),
    frameOf({ type: 'message_delta', delta: stop, usage: { output_tokens: usage.output_tokens } }),
    frameOf({ type: 'message_stop' }),
  ];
}

function error(status: number, message: string) {
  const type = ERROR_TYPES[status] ?? 'api_error';
  return { type: 'error', error: { type, message }, request_id: 'req_scripted' };
}

const failure: ModelDialect['failure'] = () => error(529, 'Overloaded');

const MESSAGES: ModelDialect = { read, answer, stream, endingFrames: 3, failure, error };

/** The script of a provider that is Anthropic, which takes the operator's key and any that a caller brings as a token. */
export function anthropicScript(request: RecordedRequest): Behaviour {
  const { authorization, 'x-api-key': key } = request.headers;
  if (authorization === undefined && key !== ANTHROPIC_KEY)
    return { kind: 'json', status: 401, body: error(401, 'invalid x-api-key') };
  const path = `${request.method} ${request.path}`;
  if (path === 'POST /v1/messages') return behave(MESSAGES, request);
  if (path === 'POST /v1/messages/count_tokens') {
    const { question } = read(JSON.parse(request.body.toString()) as Record<string, unknown>);
    return { kind: 'json', body: { input_tokens: countTokens(question) } };
  }
  return { kind: 'json', status: 404, body: error(404, `${path} is not served`) };
}
