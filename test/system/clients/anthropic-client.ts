/** What the tests of the `@anthropic-ai/sdk` package share. */
import Anthropic from '@anthropic-ai/sdk';
import { countTokens } from '../../support/scripted-provider.ts';
import { CHAT_PLACE, CLAUDE, MESSAGES_PLACE, type Place } from './records.ts';
import type { World } from './world.ts';

/** The same call to a model of Anthropic's, and to one of OpenAI's, for which it is translated. */
export const PLACES: readonly Place[] = [MESSAGES_PLACE, { ...CHAT_PLACE, path: MESSAGES_PLACE.path }];

export const QUESTION = 'Grüße aus Köln, 世界 👋 "quoted"';
export const ANSWER = `You said: ${QUESTION}`;

/** What either of the scripted models counts for it. */
export const COUNTED = { input_tokens: countTokens(QUESTION), output_tokens: countTokens(ANSWER) };

/** A message with this question. */
export function ask(content: string, model: string = CLAUDE) {
  return { model, max_tokens: 100, messages: [{ role: 'user' as const, content }] };
}

/** A client as anybody would make it: its base URL and key, and headers for this case. */
export function clientOf(
  world: World,
  headers: Record<string, string>,
  options: { maxRetries?: number; apiKey?: string } = {},
): Anthropic {
  const { maxRetries = 0, apiKey = world.apiKey } = options;
  const baseURL = world.assay.gatewayUrl;
  return new Anthropic({ baseURL, apiKey, maxRetries, defaultHeaders: headers });
}

/** What a message says. */
export function textOf({ content }: Pick<Anthropic.Message, 'content'>): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** What the record must say of the tokens that a message tells. */
export function usageOf({ usage }: Pick<Anthropic.Message, 'usage'>) {
  return { prompt: usage.input_tokens, completion: usage.output_tokens };
}
