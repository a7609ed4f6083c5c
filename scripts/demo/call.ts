/** What calls of the demo have in common. */
import type OpenAI from 'openai';
import { QUESTIONS, USERS } from './conversations.ts';

/** `records`: how many calls it is. */
export type Call = { title: string; records: number; run(client: OpenAI): Promise<void> };

export type Headers = Record<string, string>;

export function pick<T>(items: readonly T[], index: number): T {
  return items[index % items.length]!;
}

/** The user, plan and feature of a call: filters find them as `request.user_id` and `properties`. */
export function headersFor(index: number): Headers {
  const user = pick(USERS, index);
  return {
    'Service-User-Id': user.id,
    'Service-Property-Plan': user.plan,
    'Service-Property-Feature': pick(QUESTIONS, index).feature,
  };
}

export function messages(content: string): OpenAI.ChatCompletionMessageParam[] {
  return [{ role: 'user', content }];
}
