import { type JsonObject, textOrNull } from '../../json-values/mod.ts';
import type { StreamEvent } from './assembler.ts';

/**
 * Returns the error in an event: Anthropic's and OpenAI's `error` events, whose data holds the error or is the error,
 * the bare `{"error": …}` of OpenAI's completions and of gateways, the text that Ollama and Hugging Face's server send
 * in its place, and the error that older versions of vLLM send as a chunk of its own, `{"object": "error", "message": …}`.
 * The last two are none beside choices, where such members say anything. Undefined when the event has none.
 */
export function errorOf({ type, data }: StreamEvent): unknown {
  const isNamed = type === 'error';
  const hasAnswer = !isNamed && (data.choices ?? null) !== null;
  if (data.object === 'error' && !hasAnswer) {
    const { object: _object, ...error } = data;
    return error;
  }
  const isBare = typeof data.type !== 'string';
  if (!isNamed && !isBare) return undefined;
  const { error: told } = data;
  if (typeof told === 'string' && told !== '') return hasAnswer ? undefined : textError(told, data);
  if (told !== undefined && told !== null && told !== '') return told;
  if (!isNamed) return undefined;
  const { type: _type, sequence_number: _number, ...error } = data;
  return error;
}

/** Returns an error that is text as an object, with the type that Hugging Face's server sends beside it. */
function textError(message: string, { error_type: type }: JsonObject): JsonObject {
  return textOrNull(type) === null ? { message } : { message, type };
}
