import type { JsonObject } from '#core/json/mod.ts';
import {
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
  onlyFields,
  optionalCount,
  optionalNumber,
  optionalObject,
  optionalText,
  refuse,
  textAt,
} from '../fields.ts';
import { userOfMetadata } from '../user-ids.ts';
import { readSystem, readTurns } from './read-turns.ts';
import { checkMessagesFields } from './request-fields.ts';

const OUTPUT_FIELDS: ReadonlySet<string> = new Set(['effort', 'format']);

/**
 * Reads a Messages request for a model that speaks OpenAI's dialect.
 * @throws AssayError invalid_body, naming the field that is malformed or that OpenAI's dialect cannot express
 */
export function readMessagesRequest(body: JsonObject): Conversation {
  checkMessagesFields(body);
  const { system, turns } = readTurns(arrayAt(body.messages, 'messages'));
  const choice = optionalObject(body.tool_choice, 'tool_choice');
  const outputConfig = optionalObject(body.output_config, 'output_config') ?? {};
  onlyFields(outputConfig, OUTPUT_FIELDS, 'output_config', 'is not known here');
  const metadata = optionalObject(body.metadata, 'metadata');
  const userId = optionalText(metadata?.user_id, 'metadata.user_id');
  return {
    system: [...readSystem(body.system, 'system'), ...system],
    turns,
    tools: isAbsent(body.tools) ? [] : arrayAt(body.tools, 'tools').map(readTool),
    toolChoice: choice === null ? null : readToolChoice(choice),
    parallelToolCalls: !flagAt(choice?.disable_parallel_tool_use, 'tool_choice.disable_parallel_tool_use'),
    maxTokens: optionalCount(body.max_tokens, 'max_tokens') ?? refuse('max_tokens', 'is required'),
    temperature: optionalNumber(body.temperature, 'temperature', 0, 1),
    topP: optionalNumber(body.top_p, 'top_p', 0, 1),
    topK: optionalCount(body.top_k, 'top_k'),
    stop: isAbsent(body.stop_sequences)
      ? []
      : arrayAt(body.stop_sequences, 'stop_sequences').map((item, at) =>
          nameAt(item, `stop_sequences[${at}]`),
        ),
    stream: flagAt(body.stream, 'stream'),
    userId: userId === null ? null : userOfMetadata(userId),
    effort: readEffort(outputConfig.effort),
    thinking: optionalObject(body.thinking, 'thinking'),
    answerFormat: readFormat(optionalObject(outputConfig.format, 'output_config.format')),
    standardTierOnly: body.service_tier === 'standard_only',
    cacheControl: optionalObject(body.cache_control, 'cache_control'),
  };
}

function readEffort(value: unknown): Effort | null {
  if (isAbsent(value)) return null;
  return EFFORTS.find((known) => known === value) ?? refuse('output_config.effort', 'is not a known level');
}

function readFormat(format: JsonObject | null): AnswerFormat | null {
  if (format === null) return null;
  if (format.type !== 'json_schema') refuse('output_config.format.type', 'must be json_schema');
  const schema = objectAt(format.schema, 'output_config.format.schema');
  return { type: 'json_schema', description: null, schema, strict: true };
}

/** The fields of a tool. `eager_input_streaming` changes only how the input is streamed, not what the model does. */
const TOOL_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'name',
  'description',
  'input_schema',
  'strict',
  'cache_control',
  'eager_input_streaming',
]);

function readTool(value: unknown, index: number): Tool {
  const field = `tools[${index}]`;
  const tool = objectAt(value, field);
  if (!isAbsent(tool.type) && tool.type !== 'custom')
    refuse(
      `${field}.type`,
      "must be custom: tools that run at Anthropic have no counterpart in OpenAI's dialect",
    );
  onlyFields(tool, TOOL_FIELDS, field, "cannot be translated to OpenAI's dialect");
  return {
    name: nameAt(tool.name, `${field}.name`),
    description: optionalText(tool.description, `${field}.description`),
    schema: objectAt(tool.input_schema, `${field}.input_schema`),
    strict: flagAt(tool.strict, `${field}.strict`),
    cacheControl: optionalObject(tool.cache_control, `${field}.cache_control`),
  };
}

function readToolChoice(choice: JsonObject): ToolChoice {
  switch (textAt(choice.type, 'tool_choice.type')) {
    case 'auto':
      return { type: 'auto' };
    case 'any':
      return { type: 'required' };
    case 'none':
      return { type: 'none' };
    case 'tool':
      return { type: 'tool', name: nameAt(choice.name, 'tool_choice.name') };
    default:
      return refuse('tool_choice.type', 'must be auto, any, tool or none');
  }
}
