import type { JsonObject } from '#core/json/mod.ts';
import type { Conversation, Tool, ToolChoice } from '../conversation.ts';
import { refuse } from '../fields.ts';
import { type EffortOptions, effortOf } from '../openai-effort.ts';
import { toOpenAiUser } from '../user-ids.ts';
import { type Extensions, writeMessages } from './write-messages.ts';

export type ChatRequestOptions = EffortOptions & {
  /** OpenAI's newer models take only the second, other providers the first. */
  maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** True when a stream's usage is requested by `stream_options`, as the provider's row says. */
  asksForUsage: boolean;
  /** False: `user` and `service_tier` are left out, as the provider's row says. */
  takesUserAndTier: boolean;
  /** Makers whose additional fields the provider takes, as its row says; OpenAI refuses them. */
  extensions: Extensions;
};

/** Limit of stop sequences at OpenAI: https://platform.openai.com/docs/api-reference/chat/create */
const MAX_STOPS = 4;

/**
 * Writes a chat completion request.
 * @throws AssayError invalid_body, naming the field of the Messages request that OpenAI's dialect cannot express
 */
export function writeChatRequest(conversation: Conversation, options: ChatRequestOptions): JsonObject {
  const { tools, toolChoice, stop, topK, userId } = conversation;
  const extensions = extensionsOf(options);
  if (stop.length > MAX_STOPS)
    refuse('stop_sequences', `must have at most ${MAX_STOPS} items for this provider`);
  if (topK !== null && extensions !== 'anthropic')
    refuse('top_k', "cannot be translated to OpenAI's dialect");
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
    ...writeReasoning(conversation, extensions, options),
    user: options.takesUserAndTier && userId !== null ? toOpenAiUser(userId) : null,
    service_tier: options.takesUserAndTier && conversation.standardTierOnly ? 'default' : null,
    ...(extensions === 'anthropic' ? { cache_control: conversation.cacheControl } : {}),
    stream: conversation.stream ? true : null,
    stream_options: conversation.stream && options.asksForUsage ? { include_usage: true } : null,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** Google's models that neither sign their tool calls nor ask for signatures. */
const UNSIGNED_GEMINI = /gemini-[12](?!\d)|gemma/;

function extensionsOf({ extensions, model }: ChatRequestOptions): Extensions {
  return extensions === 'google' && UNSIGNED_GEMINI.test(model) ? 'none' : extensions;
}

function writeReasoning(
  conversation: Conversation,
  extensions: Extensions,
  options: ChatRequestOptions,
): JsonObject {
  const { effort, thinking } = conversation;
  if (extensions === 'anthropic') return { reasoning_effort: effort, thinking };
  return { reasoning_effort: effortOf(conversation, options) };
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
    ...(extensions !== 'anthropic' || tool.cacheControl === null ? {} : { cache_control: tool.cacheControl }),
  };
}

function writeToolChoice(choice: ToolChoice): unknown {
  return choice.type === 'tool' ? { type: 'function', function: { name: choice.name } } : choice.type;
}

/** Writes the form of the answer. OpenAI requires a name for the schema, and Anthropic has none. */
function writeAnswerFormat({ answerFormat }: Conversation): JsonObject | null {
  if (answerFormat?.type !== 'json_schema') return answerFormat;
  const { schema, strict } = answerFormat;
  return { type: 'json_schema', json_schema: { name: 'answer', schema, strict } };
}
