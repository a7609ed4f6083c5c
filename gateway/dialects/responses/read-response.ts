import { AssayError } from '#core/contracts/errors.ts';
import { isObject, type JsonObject, textOrNull } from '#core/json/mod.ts';
import type { Answer, AssistantPart, FinishReason, Stop } from '../conversation.ts';
import { readArguments } from '../openai-arguments.ts';
import { readReasoning } from './reasoning.ts';
import { readResponseUsage } from './usage.ts';

/**
 * Reads an answer of OpenAI's Responses.
 * @param provider the name of the provider that made it
 * @throws AssayError provider_bad_answer when it is no response, or failed, or a call's arguments are not a JSON object
 */
export function readResponse(response: JsonObject, provider: string): Answer {
  if (isObject(response.error)) throw badAnswer(failureOf(response.error));
  if (!Array.isArray(response.output))
    throw badAnswer('The provider answered with something that is not a response');
  const items = response.output.filter(isObject);
  const stop = readResponseStop(
    response,
    items.some((item) => item.type === 'function_call'),
  );
  return {
    id: textOrNull(response.id) ?? '',
    model: textOrNull(response.model) ?? '',
    parts: items.flatMap((item, index) => readItem(item, index, stop, provider)),
    stop,
    usage: readResponseUsage(response),
  };
}

function readItem(item: JsonObject, index: number, { finish }: Stop, provider: string): AssistantPart[] {
  switch (item.type) {
    case 'message':
      return readTexts(item.content);
    case 'reasoning': {
      const part = readReasoning(item, provider);
      return part === null ? [] : [part];
    }
    case 'function_call': {
      const name = textOrNull(item.name) ?? '';
      const input = readArguments(item.arguments, name, finish);
      return [{ type: 'tool_call', id: callIdOf(item, index), name, input, cacheControl: null }];
    }
    default:
      return [];
  }
}

function readTexts(content: unknown): AssistantPart[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown): AssistantPart[] => {
    const text = isObject(part) ? (textOrNull(part.text) ?? textOrNull(part.refusal)) : null;
    return text === null || text === '' ? [] : [{ type: 'text', text, cacheControl: null }];
  });
}

/** Returns the id by which a call's result names it. */
export function callIdOf(item: JsonObject, index: number): string {
  return textOrNull(item.call_id) || textOrNull(item.id) || `call_${index}`;
}

const FINISH_OF: Readonly<Record<string, FinishReason>> = {
  max_output_tokens: 'length',
  content_filter: 'content_filter',
};

/** Reads why a response ended, which it says only where it is not whole. */
export function readResponseStop(
  { status, incomplete_details: details }: JsonObject,
  hasCalls: boolean,
): Stop {
  const reason = isObject(details) ? textOrNull(details.reason) : null;
  const known = reason !== null && Object.hasOwn(FINISH_OF, reason) ? FINISH_OF[reason]! : null;
  const finish = known ?? (status === 'incomplete' ? 'length' : hasCalls ? 'tool_calls' : 'stop');
  return { finish, native: reason ?? textOrNull(status), sequence: null, refusal: null };
}

/** Returns what the error of a response that failed says. */
export function failureOf(error: JsonObject): string {
  return textOrNull(error.message) || 'The provider failed in the middle of its answer';
}

function badAnswer(message: string): AssayError {
  return new AssayError('provider_bad_answer', message);
}
