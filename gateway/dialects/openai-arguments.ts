import { AssayError } from '#core/contracts/errors.ts';
import { isObject, type JsonObject, parseExactObject, textOrNull } from '#core/json/mod.ts';
import type { FinishReason } from './conversation.ts';

/**
 * Reads the arguments of a call that a model of OpenAI's dialect makes: JSON in a string, or an object
 * (Hugging Face's server). Those that the limit of tokens cut off are
 * none: the stop reason tells clients not to make the call, and an error would make them pay for it again.
 * @throws AssayError provider_bad_answer when they are not a JSON object
 */
export function readArguments(given: unknown, name: string, finish: FinishReason): JsonObject {
  if (isObject(given)) return given;
  const text = textOrNull(given) ?? '';
  if (text.trim() === '') return {};
  try {
    const input = parseExactObject(text);
    if (input !== null) return input;
  } catch {
    // Refused below.
  }
  if (finish === 'length') return {};
  throw new AssayError(
    'provider_bad_answer',
    `The model called the tool "${name.slice(0, 80)}" with arguments that are not a JSON object`,
  );
}
