import type { JsonObject } from '#core/json/mod.ts';
import { refuse } from '../fields.ts';
import type { Conversation, Tool, ToolChoice } from '../form.ts';
import { type Extensions, writeMessages } from './write-messages.ts';

export type ChatRequestOptions = {
  /** The model's id as the provider knows it. */
  model: string;
  /** OpenAI's newer models take the second alone, other providers the first. */
  maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** Whether a stream must be asked for its usage, as the provider's row says. */
  asksForUsage: boolean;
  /** Whether the provider knows Anthropic's own fields: OpenRouter does, OpenAI refuses them. */
  extensions: Extensions;
};

/** OpenAI takes so many: https://platform.openai.com/docs/api-reference/chat/create */
const MAX_STOPS = 4;

/**
 * Writes a chat completion request.
 * @throws AssayError invalid_body, naming the field of the Messages request that OpenAI's dialect cannot express
 */
export function writeChatRequest(conversation: Conversation, options: ChatRequestOptions): JsonObject {
  const { tools, toolChoice, stop, topK, extensions } = { ...conversation, ...options };
  if (stop.length > MAX_STOPS) refuse('stop_sequences', `must be at most ${MAX_STOPS} for this provider`);
  if (topK !== null && extensions === 'none') refuse('top_k', "cannot be translated to OpenAI's dialect");
  const fields: JsonObject = {
    model: options.model,
    messages: writeMessages(conversation, extensions),
    [options.maxTokensField]: conversation.maxTokens,
    temperature: conversation.temperature,
    top_p: conversation.topP,
    top_k: topK,
    stop: stop.length === 0 ? null : stop,
    tools: tools.length === 0 ? null : tools.map((tool) => writeTool(tool, extensions)),
    tool_choice: toolChoice === null ? null : writeToolChoice(toolChoice),
    parallel_tool_calls: conversation.parallelToolCalls || tools.length === 0 ? null : false,
    response_format: writeAnswerFormat(conversation),
    ...reasoningOf(conversation, extensions),
    user: conversation.userId,
    service_tier: conversation.standardTierOnly ? 'default' : null,
    ...(extensions === 'anthropic' ? { cache_control: conversation.cacheControl } : {}),
    stream: conversation.stream ? true : null,
    stream_options: conversation.stream && options.asksForUsage ? { include_usage: true } : null,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** Tokens of thinking from which an effort is called so, the other way round than for Claude models with a budget. */
const HIGH_BUDGET = 16_384;
const MEDIUM_BUDGET = 4_096;

/**
 * Thinking as an effort, which is all that this dialect knows. Adaptive thinking without one leaves it to the model,
 * and so does none.
 */
function reasoningOf({ effort, thinking }: Conversation, extensions: Extensions): JsonObject {
  if (extensions === 'anthropic') return { reasoning_effort: effort, thinking };
  if (effort !== null) return { reasoning_effort: effort };
  const budget = thinking?.type === 'enabled' ? thinking.budget_tokens : null;
  if (typeof budget !== 'number') return {};
  return { reasoning_effort: budget >= HIGH_BUDGET ? 'high' : budget >= MEDIUM_BUDGET ? 'medium' : 'low' };
}

function writeTool(tool: Tool, extensions: Extensions): JsonObject {
  return {
    type: 'function',
    function: {
      name: tool.name,
      ...(tool.description === null ? {} : { description: tool.description }),
      ...(tool.schema === null ? {} : { parameters: tool.schema }),
      ...(tool.strict ? { strict: true } : {}),
    },
    ...(extensions === 'none' || tool.cacheControl === null ? {} : { cache_control: tool.cacheControl }),
  };
}

function writeToolChoice(choice: ToolChoice): unknown {
  return choice.type === 'tool' ? { type: 'function', function: { name: choice.name } } : choice.type;
}

/** OpenAI asks for a name of the schema, Anthropic knows none. */
function writeAnswerFormat({ answerFormat }: Conversation): JsonObject | null {
  if (answerFormat?.type !== 'json_schema') return answerFormat;
  const { schema, strict } = answerFormat;
  return { type: 'json_schema', json_schema: { name: 'answer', schema, strict } };
}
