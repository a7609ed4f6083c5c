import { AssayError } from '#core/contracts/errors.ts';
import type { JsonObject } from '#core/json/mod.ts';
import type { TokenUsage } from '../conversation.ts';
import { readOpenAiUsage } from '../openai-usage.ts';

/** Reads the `usage` of a response; null when it has none. */
export function readResponseUsage(response: JsonObject): TokenUsage | null {
  return readOpenAiUsage(response, { prompt: 'input_tokens_details', completion: 'output_tokens_details' });
}

/**
 * Reads the answer of OpenAI's count of a call's input.
 * @throws AssayError provider_bad_answer
 */
export function readInputTokens({ input_tokens: tokens }: JsonObject): number {
  if (Number.isSafeInteger(tokens) && (tokens as number) >= 0) return tokens as number;
  throw new AssayError(
    'provider_bad_answer',
    'The provider answered with something that is not a count of tokens',
  );
}
