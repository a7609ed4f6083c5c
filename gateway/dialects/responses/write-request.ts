import type { JsonObject } from '#core/json/mod.ts';
import type { Conversation, Tool, ToolChoice } from '../conversation.ts';
import { refuse } from '../fields.ts';
import { type EffortOptions, effortOf } from '../openai-effort.ts';
import { toOpenAiUser } from '../user-ids.ts';
import { writeInput } from './write-input.ts';

export type ResponsesRequestOptions = EffortOptions & {
  /** The provider's name: reasoning is sent back to its maker alone. */
  provider: string;
};

/** OpenAI refuses a lower limit. */
const LEAST_OUTPUT_TOKENS = 16;

/**
 * Writes a request of OpenAI's Responses. Nothing is stored there: the conversation is the caller's, and the encrypted reasoning of
 * each answer comes back with the next request.
 * @throws AssayError invalid_body, naming the field of the Messages request that Responses cannot express
 */
export function writeResponsesRequest(
  conversation: Conversation,
  options: ResponsesRequestOptions,
): JsonObject {
  const { tools, toolChoice, maxTokens, stop, topK, thinking, userId } = conversation;
  if (stop.length > 0) refuse('stop_sequences', "cannot be translated: OpenAI's reasoning models have none");
  if (topK !== null) refuse('top_k', "cannot be translated to OpenAI's dialect");
  const fields: JsonObject = {
    model: options.model,
    input: writeInput(conversation, options.provider),
    max_output_tokens: maxTokens === null ? null : Math.max(LEAST_OUTPUT_TOKENS, maxTokens),
    temperature: unlessOne(conversation.temperature),
    top_p: unlessOne(conversation.topP),
    tools: tools.length === 0 ? null : tools.map(writeTool),
    tool_choice: toolChoice === null ? null : writeToolChoice(toolChoice),
    parallel_tool_calls: conversation.parallelToolCalls || tools.length === 0 ? null : false,
    text: writeFormat(conversation),
    reasoning: withoutNulls({
      effort: effortOf(conversation, options),
      // Only where the caller asks for it: OpenAI refuses summaries to organizations that it has not verified.
      summary: thinking?.display === 'summarized' ? 'auto' : null,
    }),
    user: userId === null ? null : toOpenAiUser(userId),
    service_tier: conversation.standardTierOnly ? 'default' : null,
    store: false,
    // A caller that has not asked for thinking expects no blocks of it.
    include: thinking === null || thinking.type === 'disabled' ? null : ['reasoning.encrypted_content'],
    stream: conversation.stream ? true : null,
  };
  return withoutNulls(fields) ?? {};
}

/** The fields of a call of Responses that one of its count takes (https://platform.openai.com/docs/api-reference/responses/input-tokens). */
const COUNTED_FIELDS = ['model', 'input', 'tools', 'tool_choice', 'parallel_tool_calls', 'text', 'reasoning'];

/**
 * Writes a request that counts the tokens of the call that `writeResponsesRequest` would write.
 * @throws as `writeResponsesRequest`
 */
export function writeCountRequest(conversation: Conversation, options: ResponsesRequestOptions): JsonObject {
  const whole = Object.entries(writeResponsesRequest(conversation, options));
  return Object.fromEntries(whole.filter(([name]) => COUNTED_FIELDS.includes(name)));
}

/** OpenAI's reasoning models refuse `temperature` and `top_p`, also the value that changes nothing, and many clients send it. */
function unlessOne(value: number | null): number | null {
  return value === 1 ? null : value;
}

/** Null: nothing is left. */
function withoutNulls(fields: JsonObject): JsonObject | null {
  const known = Object.entries(fields).filter(([, value]) => value !== null);
  return known.length === 0 ? null : Object.fromEntries(known);
}

/** Writes a tool. Without `strict`, Responses would hold the model to a schema that it makes stricter than the caller's. */
function writeTool({ name, description, schema, strict }: Tool): JsonObject {
  return {
    type: 'function',
    name,
    ...(description === null ? {} : { description }),
    parameters: schema ?? { type: 'object', properties: {} },
    strict,
  };
}

function writeToolChoice(choice: ToolChoice): unknown {
  return choice.type === 'tool' ? { type: 'function', name: choice.name } : choice.type;
}

/** Writes the form of the answer. OpenAI requires a name for the schema, and Anthropic has none. */
function writeFormat({ answerFormat }: Conversation): JsonObject | null {
  if (answerFormat === null) return null;
  if (answerFormat.type !== 'json_schema') return { format: { type: answerFormat.type } };
  const { schema, strict } = answerFormat;
  return { format: { type: 'json_schema', name: 'answer', schema, strict } };
}
