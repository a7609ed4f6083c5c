/** What the tests of the `openai` package share. */
import OpenAI from 'openai';
import { countUsage } from '../../support/scripted-provider.ts';
import { MODEL } from './records.ts';
import type { World } from './world.ts';

export const QUESTION = 'Grüße aus Köln, 世界 👋 "quoted"';
export const ANSWER = `You said: ${QUESTION}`;

/** A chat request with this question. */
export function ask(content: string) {
  return { model: MODEL, messages: [{ role: 'user' as const, content }] };
}

export const CHAT = ask(QUESTION);
/** What the scripted provider counts for it. */
export const USAGE = countUsage(CHAT, ANSWER);

/** A client as anybody would make it: its base URL and key, and headers for this case. */
export function clientOf(
  world: World,
  headers: Record<string, string>,
  options: { maxRetries?: number; apiKey?: string } = {},
): OpenAI {
  const { maxRetries = 0, apiKey = world.apiKey } = options;
  return new OpenAI({ baseURL: world.baseUrl, apiKey, maxRetries, defaultHeaders: headers });
}

/** What `call` throws, as the package's own error. */
export async function errorOf(call: PromiseLike<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const error = await call.then(
    () => new Error('The call should have failed'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof OpenAI.APIError) return error;
  throw error;
}
