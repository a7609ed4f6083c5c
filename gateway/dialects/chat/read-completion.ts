import { AssayError } from '#core/contracts/errors.ts';
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';
import type { Answer, AssistantPart, Stop } from '../conversation.ts';
import { UNSIGNED } from '../foreign-reasoning.ts';
import { readArguments } from '../openai-arguments.ts';
import { failureMessage, isFailure, readFinish } from './finish.ts';
import { readContent } from './read-content.ts';
import { readCompletionUsage } from './usage.ts';

/**
 * Reads the first choice of a chat completion; no translated request asks for more.
 * @throws AssayError provider_bad_answer when it is not a completion, or a tool call's arguments are not a JSON object
 */
export function readCompletion(completion: JsonObject): Answer {
  const choice = Array.isArray(completion.choices) ? completion.choices[0] : undefined;
  if (!isObject(choice) || !isObject(choice.message))
    throw new AssayError(
      'provider_bad_answer',
      'The provider answered with something that is not a completion',
    );
  if (isFailure(choice.finish_reason))
    throw new AssayError('provider_bad_answer', failureMessage(choice.finish_reason));
  const { message } = choice;
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : [];
  const stop = readFinish(choice.finish_reason, calls.length > 0);
  const parts: AssistantPart[] = [
    ...readThinking(message),
    ...[message.content, message.refusal].flatMap(readParts),
    ...calls.map((call, index) => readToolCall(call, index, stop)),
  ];
  return {
    id: textOrNull(completion.id) ?? '',
    model: textOrNull(completion.model) ?? '',
    parts,
    stop,
    usage: readCompletionUsage(completion),
  };
}

/** Reads texts and thoughts; the pieces of a thought are one. */
function readParts(content: unknown): AssistantPart[] {
  const parts: AssistantPart[] = [];
  for (const { type, text } of readContent(content)) {
    const last = parts.at(-1);
    if (type === 'text') parts.push({ type, text, cacheControl: null });
    else if (last?.type === 'thinking') last.text += text;
    else parts.push({ type, text, signature: UNSIGNED });
  }
  return parts;
}

/** Reads reasoning, which has no signature in this dialect. */
function readThinking(message: JsonObject): AssistantPart[] {
  const text = textOrNull(message.reasoning_content) ?? textOrNull(message.reasoning);
  return text === null || text === '' ? [] : [{ type: 'thinking', text, signature: UNSIGNED }];
}

function readToolCall(call: JsonObject, index: number, { finish }: Stop): AssistantPart {
  const definition = isObject(call.function) ? call.function : {};
  const name = textOrNull(definition.name) ?? '';
  return {
    type: 'tool_call',
    id: textOrNull(call.id) || `call_${index}`,
    name,
    input: readArguments(definition.arguments, name, finish),
    cacheControl: null,
  };
}
