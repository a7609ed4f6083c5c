import type { JsonObject } from '#core/json/mod.ts';
import {
  ANSWER_TOOL,
  type AnswerFormat,
  type Conversation,
  EFFORTS,
  type Effort,
  type Tool,
  type ToolChoice,
} from '../conversation.ts';
import {
  arrayAt,
  flagAt,
  isAbsent,
  nameAt,
  objectAt,
  optionalCount,
  optionalNumber,
  optionalObject,
  optionalText,
  refuse,
  textAt,
} from '../fields.ts';
import { readMessages } from './read-messages.ts';
import { checkRequestFields } from './request-fields.ts';

/**
 * Reads a chat completion request for a model of Anthropic's.
 * @throws AssayError invalid_body, naming the field that is malformed or that Anthropic cannot express
 */
export function readChatRequest(body: JsonObject): Conversation {
  checkRequestFields(body);
  const tools = isAbsent(body.tools) ? [] : arrayAt(body.tools, 'tools').map(readTool);
  return {
    ...readMessages(arrayAt(body.messages, 'messages')),
    tools,
    toolChoice: readToolChoice(body.tool_choice, tools),
    parallelToolCalls:
      isAbsent(body.parallel_tool_calls) || flagAt(body.parallel_tool_calls, 'parallel_tool_calls'),
    maxTokens:
      optionalCount(body.max_completion_tokens, 'max_completion_tokens') ??
      optionalCount(body.max_tokens, 'max_tokens'),
    temperature: readTemperature(body.temperature),
    topP: readTopP(body.top_p),
    topK: optionalCount(body.top_k, 'top_k'),
    stop: readStop(body.stop),
    stream: flagAt(body.stream, 'stream'),
    userId: optionalText(body.safety_identifier, 'safety_identifier') ?? optionalText(body.user, 'user'),
    effort: readEffort(body.reasoning_effort),
    thinking: optionalObject(body.thinking, 'thinking'),
    answerFormat: readAnswerFormat(body.response_format),
    standardTierOnly: readServiceTier(body.service_tier),
    cacheControl: optionalObject(body.cache_control, 'cache_control'),
  };
}

/** OpenAI's default of `temperature` and `top_p`. */
const UNCHANGED = 1;

/**
 * Reads the temperature. OpenAI's scale ends at 2, Anthropic's at 1: a higher value is refused, not silently clamped. OpenAI's
 * default asks for what a request without it does. Many clients send it with `top_p`, and Anthropic's models since Opus 4.1
 * refuse the two together, whatever their values.
 */
function readTemperature(value: unknown): number | null {
  const temperature = optionalNumber(value, 'temperature', 0, 2);
  if (temperature !== null && temperature > 1)
    refuse('temperature', "must be at most 1 for Anthropic's models");
  return temperature === UNCHANGED ? null : temperature;
}

/** Reads the nucleus. As with the temperature, OpenAI's default counts as missing. */
function readTopP(value: unknown): number | null {
  const topP = optionalNumber(value, 'top_p', 0, 1);
  return topP === UNCHANGED ? null : topP;
}

function readStop(value: unknown): string[] {
  if (isAbsent(value)) return [];
  const list = typeof value === 'string' ? [value] : arrayAt(value, 'stop');
  return list.map((item, index) => {
    const sequence = nameAt(item, typeof value === 'string' ? 'stop' : `stop[${index}]`);
    if (sequence.trim() === '') refuse('stop', 'must not be only white space: Anthropic refuses it');
    return sequence;
  });
}

function readEffort(value: unknown): Effort | null {
  if (isAbsent(value)) return null;
  const effort = EFFORTS.find((known) => known === value);
  return effort ?? refuse('reasoning_effort', `must be one of ${EFFORTS.join(', ')}`);
}

/** Returns whether only the standard tier may be used. `auto` is Anthropic's default; `default` is OpenAI's standard tier. */
function readServiceTier(value: unknown): boolean {
  if (isAbsent(value) || value === 'auto') return false;
  if (value === 'default') return true;
  return refuse('service_tier', "must be auto or default for Anthropic's models");
}

function readTool(value: unknown, index: number): Tool {
  const field = `tools[${index}]`;
  const tool = objectAt(value, field);
  if (tool.type !== 'function') refuse(`${field}.type`, 'must be function: other tools are not translated');
  const definition = objectAt(tool.function, `${field}.function`);
  const name = nameAt(definition.name, `${field}.function.name`);
  if (name === ANSWER_TOOL)
    refuse(`${field}.function.name`, `must not be ${ANSWER_TOOL}, which the gateway uses`);
  return {
    name,
    description: optionalText(definition.description, `${field}.function.description`),
    schema: optionalObject(definition.parameters, `${field}.function.parameters`),
    strict: flagAt(definition.strict, `${field}.function.strict`),
    cacheControl: optionalObject(tool.cache_control ?? definition.cache_control, `${field}.cache_control`),
  };
}

function readToolChoice(value: unknown, tools: readonly Tool[]): ToolChoice | null {
  if (isAbsent(value)) return null;
  if (value === 'auto' || value === 'none') return tools.length === 0 ? null : { type: value };
  if (value !== 'required') {
    const choice = typeof value === 'string' ? null : objectAt(value, 'tool_choice');
    if (choice?.type !== 'function')
      refuse('tool_choice', 'must be none, auto, required or {"type":"function","function":{"name":…}}');
    const name = nameAt(objectAt(choice.function, 'tool_choice.function').name, 'tool_choice.function.name');
    if (!tools.some((tool) => tool.name === name))
      refuse('tool_choice', `names "${name}", which is not in tools`);
    return { type: 'tool', name };
  }
  if (tools.length === 0) refuse('tool_choice', 'is required, but there are no tools');
  return { type: 'required' };
}

function readAnswerFormat(value: unknown): AnswerFormat | null {
  if (isAbsent(value)) return null;
  const format = objectAt(value, 'response_format');
  switch (textAt(format.type, 'response_format.type')) {
    case 'text':
      return null;
    case 'json_object':
      return { type: 'json_object' };
    case 'json_schema': {
      const field = 'response_format.json_schema';
      const definition = objectAt(format.json_schema, field);
      return {
        type: 'json_schema',
        description: optionalText(definition.description, `${field}.description`),
        schema: objectAt(definition.schema ?? {}, `${field}.schema`),
        strict: flagAt(definition.strict, `${field}.strict`),
      };
    }
    default:
      return refuse('response_format.type', 'must be text, json_object or json_schema');
  }
}
