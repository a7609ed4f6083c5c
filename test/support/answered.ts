/** Calls whose answers are kept, to be compared with what was recorded. Each has a user id of its own. */
import type OpenAI from 'openai';
import type { TestDatabase } from './postgres.ts';

/** What a client got whole. */
export type Answered = { user: string; requestId: string; text: string };

export function chat(user: string) {
  return { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: `This is ${user}` }] };
}

export async function plainCall(client: OpenAI, user: string): Promise<Answered> {
  const headers = { 'Service-User-Id': user };
  const { data, response } = await client.chat.completions.create(chat(user), { headers }).withResponse();
  return { user, requestId: requestIdOf(response), text: data.choices[0]?.message.content ?? '' };
}

/**
 * A stream counts as answered only with its `[DONE]`, which the client package does not show: so by hand.
 * @throws TypeError when it ends without
 */
export async function streamedCall(client: OpenAI, user: string): Promise<Answered> {
  const headers = { 'Service-User-Id': user };
  const response = await client.chat.completions
    .create({ ...chat(user), stream: true }, { headers })
    .asResponse();
  const body = await response.text();
  if (!body.endsWith('data: [DONE]\n\n')) throw new TypeError('The stream ended early');
  const frames = body.trim().split('\n\n').slice(0, -1);
  const chunks = frames.map(
    (frame) => JSON.parse(frame.slice('data: '.length)) as OpenAI.ChatCompletionChunk,
  );
  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
  return { user, requestId: requestIdOf(response), text };
}

function requestIdOf(response: Response): string {
  return response.headers.get('service-request-id') ?? '';
}

export type Recorded = { user_id: string; request_id: string; text: string };

export function recordedCalls(database: TestDatabase): Promise<Recorded[]> {
  return database.sql<Recorded[]>`
    select requests.user_id, requests.request_id,
           response_text::jsonb #>> '{choices,0,message,content}' as text
    from assay.requests join assay.bodies using (organization_id, created_at, request_id)`;
}
