import type { JsonObject } from '#core/json/mod.ts';
import {
  ANSWER_TOOL,
  type AnswerFormat,
  type Conversation,
  type Effort,
  type Tool,
  type ToolChoice,
} from '../conversation.ts';
import { refuse } from '../fields.ts';
import { toAnthropicUser } from '../user-ids.ts';
import { type ModelTraits, traitsOf } from './claude-models.ts';
import { writeText, writeTurn } from './write-turns.ts';

export type MessagesRequestOptions = {
  /** The model as Anthropic names it. */
  model: string;
  /** Limit in tokens when the caller set none: Anthropic requires one. */
  maxTokensDefault: number;
};

/**
 * Writes a Messages request.
 * @throws AssayError invalid_body when two fields exclude each other at Anthropic
 */
export function writeMessagesRequest(
  conversation: Conversation,
  options: MessagesRequestOptions,
): JsonObject {
  const traits = traitsOf(options.model);
  const thinking = planThinking(conversation, traits, options.maxTokensDefault);
  const answer = planAnswer(conversation, traits, thinking.isOn);
  const outputConfig = { ...thinking.outputConfig, ...answer.outputConfig };
  return dropAbsent({
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
    metadata: conversation.userId === null ? undefined : { user_id: toAnthropicUser(conversation.userId) },
    service_tier: conversation.standardTierOnly ? 'standard_only' : undefined,
    cache_control: conversation.cacheControl,
    stream: conversation.stream ? true : undefined,
  });
}

function dropAbsent(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}

type ThinkingSettings = {
  isOn: boolean;
  config: JsonObject | null;
  outputConfig: JsonObject;
  maxTokens: number;
};

/** Tokens of thinking for models that take a number. Anthropic's minimum is 1,024. */
const BUDGETS = {
  minimal: 1_024,
  low: 1_024,
  medium: 4_096,
  high: 16_384,
  xhigh: 32_768,
  max: 32_768,
} as const;

function planThinking(
  conversation: Conversation,
  traits: ModelTraits,
  maxTokensDefault: number,
): ThinkingSettings {
  const { effort, thinking } = conversation;
  const maxTokens = conversation.maxTokens ?? maxTokensDefault;
  if (thinking !== null) {
    const outputConfig = effort === null || effort === 'none' ? {} : { effort: toEffortLevel(effort) };
    return { isOn: thinking.type !== 'disabled', config: thinking, outputConfig, maxTokens };
  }
  if (effort === null) return { isOn: false, config: null, outputConfig: {}, maxTokens };
  if (effort === 'none') return { isOn: false, config: { type: 'disabled' }, outputConfig: {}, maxTokens };
  if (traits.thinksAdaptively)
    return {
      isOn: true,
      config: { type: 'adaptive' },
      outputConfig: { effort: toEffortLevel(effort) },
      maxTokens,
    };
  const budget = BUDGETS[effort];
  // The caller's limit includes thinking. The default is raised by the budget, so that the answer does not get shorter.
  if (conversation.maxTokens === null)
    return { isOn: true, config: enabledThinking(budget), outputConfig: {}, maxTokens: maxTokens + budget };
  if (maxTokens <= BUDGETS.minimal)
    refuse(
      'reasoning_effort',
      `needs max_tokens above ${BUDGETS.minimal}, the minimum of this model's thinking`,
    );
  return {
    isOn: true,
    config: enabledThinking(Math.min(budget, maxTokens - 1)),
    outputConfig: {},
    maxTokens,
  };
}

function enabledThinking(tokens: number): JsonObject {
  return { type: 'enabled', budget_tokens: tokens };
}

/** Returns Anthropic's level of effort, of which the lowest is low. */
function toEffortLevel(effort: Exclude<Effort, 'none'>): string {
  return effort === 'minimal' ? 'low' : effort;
}

type AnswerSettings = { tools: Tool[]; toolChoice: ToolChoice | null; outputConfig: JsonObject };

/**
 * Plans how the answer is held to JSON. A strict schema is in the subset that Anthropic's structured outputs take. Any other
 * schema, and JSON without a schema, becomes the input of a tool that the model must call, `ANSWER_TOOL`, whose input is
 * translated back into content. When the model must call a tool of the caller's, the answer has no text to hold to a form.
 */
function planAnswer(conversation: Conversation, traits: ModelTraits, thinks: boolean): AnswerSettings {
  const { tools, toolChoice, answerFormat } = conversation;
  const unchanged = { tools, toolChoice, outputConfig: {} };
  if (answerFormat === null) return unchanged;
  if (answerFormat.type === 'json_schema' && traits.hasStructuredOutputs && (answerFormat.strict || thinks)) {
    const format = { type: 'json_schema', schema: answerFormat.schema };
    return { ...unchanged, outputConfig: { format } };
  }
  if (toolChoice?.type === 'required' || toolChoice?.type === 'tool') return unchanged;
  if (thinks)
    refuse('response_format', 'cannot be combined with thinking, except as a json_schema with a newer model');
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
    // Without a schema any object is valid. A schema without properties would ask for an empty object.
    schema: isSchema ? format.schema : { additionalProperties: true },
    strict: false,
    cacheControl: null,
  };
}

function writeTool(tool: Tool, index: number, traits: ModelTraits): JsonObject {
  if (tool.strict && !traits.hasStructuredOutputs)
    refuse(`tools[${index}].function.strict`, 'is not supported by this model');
  return dropAbsent({
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
