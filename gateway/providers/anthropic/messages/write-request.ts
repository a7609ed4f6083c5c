import type { JsonObject } from '#core/json/mod.ts';
import { refuse } from '../fields.ts';
import {
  ANSWER_TOOL,
  type AnswerFormat,
  type Conversation,
  type Effort,
  type Tool,
  type ToolChoice,
} from '../form.ts';
import { type ModelTraits, traitsOf } from '../models.ts';
import { writeText, writeTurn } from './write-turns.ts';

export type MessagesRequestOptions = {
  /** The model's id as Anthropic knows it. */
  model: string;
  /** Tokens, where the caller set no limit: Anthropic asks for one. */
  maxTokensDefault: number;
};

/**
 * Writes a Messages request.
 * @throws AssayError invalid_body, when two wishes exclude each other at Anthropic
 */
export function writeMessagesRequest(
  conversation: Conversation,
  options: MessagesRequestOptions,
): JsonObject {
  const traits = traitsOf(options.model);
  const thinking = thinkingOf(conversation, traits, options.maxTokensDefault);
  const answer = answerOf(conversation, traits, thinking.isOn);
  const outputConfig = { ...thinking.outputConfig, ...answer.outputConfig };
  return withoutAbsent({
    model: options.model,
    max_tokens: thinking.maxTokens,
    system: conversation.system.length === 0 ? undefined : conversation.system.map(writeText),
    messages: conversation.turns.map(writeTurn),
    tools:
      answer.tools.length === 0 ? undefined : answer.tools.map((tool, at) => writeTool(tool, at, traits)),
    tool_choice: writeToolChoice(answer.toolChoice, answer.tools, conversation.parallelToolCalls),
    thinking: thinking.config,
    output_config: Object.keys(outputConfig).length === 0 ? undefined : outputConfig,
    temperature: conversation.temperature,
    top_p: conversation.topP,
    top_k: conversation.topK,
    stop_sequences: conversation.stop.length === 0 ? undefined : conversation.stop,
    metadata: conversation.userId === null ? undefined : { user_id: conversation.userId },
    service_tier: conversation.standardTierOnly ? 'standard_only' : undefined,
    cache_control: conversation.cacheControl,
    stream: conversation.stream ? true : undefined,
  });
}

function withoutAbsent(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}

type Thinking = { isOn: boolean; config: JsonObject | null; outputConfig: JsonObject; maxTokens: number };

/** Tokens of thinking for models that want a number. Anthropic takes no less than 1,024. */
const BUDGETS = {
  minimal: 1_024,
  low: 1_024,
  medium: 4_096,
  high: 16_384,
  xhigh: 32_768,
  max: 32_768,
} as const;

function thinkingOf(conversation: Conversation, traits: ModelTraits, maxTokensDefault: number): Thinking {
  const { effort, thinking } = conversation;
  const maxTokens = conversation.maxTokens ?? maxTokensDefault;
  if (thinking !== null) {
    const outputConfig = effort === null || effort === 'none' ? {} : { effort: levelOf(effort) };
    return { isOn: thinking.type !== 'disabled', config: thinking, outputConfig, maxTokens };
  }
  if (effort === null) return { isOn: false, config: null, outputConfig: {}, maxTokens };
  if (effort === 'none') return { isOn: false, config: { type: 'disabled' }, outputConfig: {}, maxTokens };
  if (traits.thinksAdaptively)
    return { isOn: true, config: { type: 'adaptive' }, outputConfig: { effort: levelOf(effort) }, maxTokens };
  const wished = BUDGETS[effort];
  // The caller's limit holds for thinking and answer together; ours need not make the answer shorter.
  if (conversation.maxTokens === null)
    return { isOn: true, config: budgetOf(wished), outputConfig: {}, maxTokens: maxTokens + wished };
  if (maxTokens <= BUDGETS.minimal)
    refuse('reasoning_effort', `needs max_tokens above ${BUDGETS.minimal}, the least that this model thinks`);
  return { isOn: true, config: budgetOf(Math.min(wished, maxTokens - 1)), outputConfig: {}, maxTokens };
}

function budgetOf(tokens: number): JsonObject {
  return { type: 'enabled', budget_tokens: tokens };
}

/** Anthropic's lowest level is low. */
function levelOf(effort: Exclude<Effort, 'none'>): string {
  return effort === 'minimal' ? 'low' : effort;
}

type AnswerWish = { tools: Tool[]; toolChoice: ToolChoice | null; outputConfig: JsonObject };

/**
 * How the answer is held to JSON. A strict schema is in the subset that Anthropic's own structured outputs take; any
 * other, and JSON without a schema, is the input of a tool that the model must call, which `ANSWER_TOOL` turns back
 * into content. Where the model must call a tool of the caller's, there is no text to be held to anything.
 */
function answerOf(conversation: Conversation, traits: ModelTraits, thinks: boolean): AnswerWish {
  const { tools, toolChoice, answerFormat } = conversation;
  const unchanged = { tools, toolChoice, outputConfig: {} };
  if (answerFormat === null) return unchanged;
  if (answerFormat.type === 'json_schema' && traits.hasStructuredOutputs && (answerFormat.strict || thinks)) {
    const format = { type: 'json_schema', schema: answerFormat.schema };
    return { ...unchanged, outputConfig: { format } };
  }
  if (toolChoice?.type === 'required' || toolChoice?.type === 'tool') return unchanged;
  if (thinks)
    refuse(
      'response_format',
      'cannot be had together with thinking, unless as a json_schema from a newer model',
    );
  const isOnly = tools.length === 0 || toolChoice?.type === 'none';
  return {
    tools: [...tools, answerTool(answerFormat)],
    toolChoice: isOnly ? { type: 'tool', name: ANSWER_TOOL } : { type: 'required' },
    outputConfig: {},
  };
}

function answerTool(format: AnswerFormat): Tool {
  const isSchema = format.type === 'json_schema';
  return {
    name: ANSWER_TOOL,
    description: (isSchema ? format.description : null) ?? 'Gives the final answer as JSON.',
    // Without a schema any object will do. One without properties would ask for an empty object.
    schema: isSchema ? format.schema : { additionalProperties: true },
    strict: false,
    cacheControl: null,
  };
}

function writeTool(tool: Tool, index: number, traits: ModelTraits): JsonObject {
  if (tool.strict && !traits.hasStructuredOutputs)
    refuse(`tools[${index}].function.strict`, 'cannot be promised by this model');
  return withoutAbsent({
    name: tool.name,
    description: tool.description,
    input_schema:
      tool.schema === null ? { type: 'object', properties: {} } : { type: 'object', ...tool.schema },
    strict: tool.strict ? true : undefined,
    cache_control: tool.cacheControl,
  });
}

function writeToolChoice(
  choice: ToolChoice | null,
  tools: Tool[],
  parallel: boolean,
): JsonObject | undefined {
  if (tools.length === 0 || (choice === null && parallel)) return undefined;
  if (choice?.type === 'none') return { type: 'none' };
  const single = parallel ? {} : { disable_parallel_tool_use: true };
  if (choice?.type === 'tool') return { type: 'tool', name: choice.name, ...single };
  return { type: choice?.type === 'required' ? 'any' : 'auto', ...single };
}
