/** Completions and streams in the shapes that OpenAI sends. */
import type { AnswerBehaviour, Completion, StreamBehaviour, ToolCall, Usage } from './behaviour.ts';

/** The members of a chat request that a scripted provider looks at. */
export type ChatRequest = {
  model?: string;
  messages?: { role?: string; content?: unknown }[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean } | null;
  tools?: { function?: { name?: string } }[];
  tool_choice?: unknown;
};

/** 2026-01-01: a fixed moment, so that equal requests get equal answers. */
const CREATED_SECONDS = 1_767_225_600;
const COMPLETION_ID = 'chatcmpl-scripted';
const FINGERPRINT = 'fp_scripted';

/** A chat request's JSON, or `{}` for what is none. */
export function parseChatRequest(body: Uint8Array): ChatRequest {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}

/** The text of the last user message; parts are joined. */
export function lastUserText(chat: ChatRequest): string {
  const messages = Array.isArray(chat.messages) ? chat.messages : [];
  return textOf(messages.findLast((message) => message?.role === 'user')?.content);
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: { text?: unknown }) => (typeof part?.text === 'string' ? part.text : ''))
    .join('');
}

/** A scripted provider's tokens: one for every four characters, and at least one. */
export function countTokens(text: string): number {
  return Math.max(1, Math.ceil(text.length / 4));
}

/** The tokens that a scripted provider counts for a request and its answer. */
export function countUsage(chat: ChatRequest, answer: string): Usage {
  const messages = Array.isArray(chat.messages) ? chat.messages : [];
  const prompt = messages.map((message) => textOf(message?.content)).join('\n');
  return { promptTokens: countTokens(prompt), completionTokens: countTokens(answer) };
}

/** The default answer. */
function defaultText(chat: ChatRequest): string {
  const question = lastUserText(chat);
  return question === '' ? 'Hello! How can I help?' : `You said: ${question}`;
}

/** OpenAI's usage object. */
function usageJson(usage: Usage): Record<string, unknown> {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens ?? 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens ?? 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function toolCallJson(call: ToolCall, index: number) {
  return {
    id: call.id ?? `call_${index}`,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  };
}

function finishReason(completion: Pick<Completion, 'finishReason' | 'toolCalls'>): string {
  return completion.finishReason ?? ((completion.toolCalls?.length ?? 0) > 0 ? 'tool_calls' : 'stop');
}

function usageOf(
  given: Usage | null | undefined,
  chat: ChatRequest,
  text: string,
  calls: readonly ToolCall[] = [],
) {
  return given === undefined ? countUsage(chat, text + calls.map((call) => call.arguments).join('')) : given;
}

/** The completion object of a plain answer. */
export function completionJson(behaviour: AnswerBehaviour, chat: ChatRequest): Record<string, unknown> {
  const calls = behaviour.toolCalls ?? [];
  const text = behaviour.text === undefined ? (calls.length > 0 ? null : defaultText(chat)) : behaviour.text;
  const usage = usageOf(behaviour.usage, chat, text ?? '', calls);
  return {
    id: behaviour.id ?? COMPLETION_ID,
    object: 'chat.completion',
    created: CREATED_SECONDS,
    model: behaviour.model ?? chat.model ?? 'scripted',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text,
          ...(calls.length > 0 ? { tool_calls: calls.map(toolCallJson) } : {}),
          refusal: behaviour.refusal ?? null,
          annotations: [],
        },
        logprobs: null,
        finish_reason: finishReason(behaviour),
      },
    ],
    ...(usage === null ? {} : { usage: usageJson(usage) }),
    service_tier: 'default',
    system_fingerprint: FINGERPRINT,
    ...behaviour.extra,
  };
}

/** A text cut into words, each with the space before it. */
export function words(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

function* toolCallDeltas(calls: readonly ToolCall[]) {
  for (const [index, call] of calls.entries()) {
    const whole = toolCallJson(call, index);
    yield { tool_calls: [{ index, ...whole, function: { name: call.name, arguments: '' } }] };
    for (const fragment of call.arguments.match(/.{1,8}/gs) ?? []) {
      yield { tool_calls: [{ index, function: { arguments: fragment } }] };
    }
  }
}

/**
 * The frames of a stream, in order. With `stream_options.include_usage` every chunk carries `usage: null` and one with
 * no choices brings the usage before `[DONE]`; without it no chunk has the member at all.
 */
export function* streamFrames(behaviour: StreamBehaviour, chat: ChatRequest): Generator<string> {
  const calls = behaviour.toolCalls ?? [];
  const deltas = behaviour.deltas ?? (calls.length > 0 ? [] : words(defaultText(chat)));
  const usage = usageOf(behaviour.usage, chat, deltas.join(''), calls);
  const asksUsage = chat.stream_options?.include_usage === true;
  const frame = (choices: unknown[], extra: Record<string, unknown>) => {
    const chunk = {
      id: behaviour.id ?? COMPLETION_ID,
      object: 'chat.completion.chunk',
      created: CREATED_SECONDS,
      model: behaviour.model ?? chat.model ?? 'scripted',
      service_tier: 'default',
      system_fingerprint: FINGERPRINT,
      choices,
      ...extra,
      ...behaviour.extra,
    };
    return `data: ${JSON.stringify(chunk)}\n\n`;
  };
  const delta = (value: Record<string, unknown>, finish: string | null = null) =>
    frame(
      [{ index: 0, delta: value, logprobs: null, finish_reason: finish }],
      asksUsage ? { usage: null } : {},
    );

  yield delta({ role: 'assistant', content: calls.length > 0 ? null : '', refusal: null });
  for (const content of deltas) yield delta({ content });
  for (const value of toolCallDeltas(calls)) yield delta(value);
  if (behaviour.refusal !== undefined) yield delta({ refusal: behaviour.refusal });
  if (behaviour.ending === 'cut' || behaviour.ending === 'stall') return;
  yield delta({}, finishReason(behaviour));
  if (asksUsage && usage !== null) yield frame([], { usage: usageJson(usage) });
  if (behaviour.omitDone !== true) yield 'data: [DONE]\n\n';
}

const ERROR_TYPES: Record<number, [type: string, code: string | null]> = {
  400: ['invalid_request_error', null],
  401: ['invalid_request_error', 'invalid_api_key'],
  403: ['invalid_request_error', 'unsupported_country_region_territory'],
  404: ['invalid_request_error', 'model_not_found'],
  429: ['requests', 'rate_limit_exceeded'],
};

/** An error body in OpenAI's shape. */
export function errorJson(
  status: number,
  given: { message?: string; type?: string; code?: string | null } = {},
) {
  const [type, code] =
    ERROR_TYPES[status] ?? (status >= 500 ? ['server_error', null] : ['invalid_request_error', null]);
  return {
    error: {
      message: given.message ?? `Scripted failure with status ${status}`,
      type: given.type ?? type,
      param: null,
      code: given.code === undefined ? code : given.code,
    },
  };
}
