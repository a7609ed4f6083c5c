/** Events of a streamed chat completion, and providers that send them by hand. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import type { Test } from 'tap';

export const STREAM = { model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content: 'Hello' }] };
export const CHUNK = (content: string) =>
  `data: {"id":"c1","model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}}}],"usage":null}\n\n`;
export const FINISH =
  'data: {"id":"c1","model":"gpt-4o-mini","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}\n\n';
export const USAGE =
  'data: {"id":"c1","model":"gpt-4o-mini","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}\n\n';
export const DONE = 'data: [DONE]\n\n';
export const EVENTS = { 'content-type': 'text/event-stream; charset=utf-8' };

export const bytes = (body: string, more: object = {}) => ({
  kind: 'bytes' as const,
  body,
  headers: EVENTS,
  ...more,
});

/** The base URL of a provider of its own. */
export async function listening(t: Test, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

export function provider(t: Test, answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((incoming, response) => {
    incoming.resume();
    answer(response);
  });
  return listening(t, server);
}
