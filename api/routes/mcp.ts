import { Type } from '@sinclair/typebox';
import { closed } from '#core/contracts/shapes.ts';
import { bearerToken } from '#platform/http-server/mod.ts';
import type { Mcp } from '../mcp/mod.ts';
import { authorized, type Keys } from './access.ts';
import { foreignBody, foreignReply } from './declare.ts';

export type McpRoutesOptions = { keys: Keys; mcp: Mcp };

/** A request or a notification: the server asks clients for nothing, so no responses come. */
const Message = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
    method: Type.String(),
    params: Type.Optional(Type.Object({})),
  },
  { ...closed, description: 'A message of JSON-RPC 2.0' },
);
/** The API refuses keys and large bodies in its own form, and the protocol's library messages in the protocol's. */
const FAILURES = [
  { $ref: '#/components/schemas/Failure' },
  {
    type: 'object' as const,
    required: ['jsonrpc', 'error'],
    properties: {
      jsonrpc: { type: 'string' as const, enum: ['2.0'] },
      error: { type: 'object' as const },
    },
  },
];

/**
 * Returns the headers for the protocol's library, which looks for both types by name: a client that accepts everything,
 * as `curl` does, accepts them.
 */
function withTypes(given: Headers): Headers {
  const headers = new Headers(given);
  const accept = headers.get('accept') ?? '*/*';
  if (/(?:^|,)\s*\*\/\*\s*(?:,|$)/.test(accept)) headers.set('accept', 'application/json, text/event-stream');
  return headers;
}

/** `/mcp`: the API as tools for models. Its bodies are the protocol's own, so the protocol's library checks them. */
export function mcpRoutes({ keys, mcp }: McpRoutesOptions) {
  // For programs: its tools call the routes with the text of the key, which a cookie does not hold.
  const withoutCookies: Keys = { ...keys, ofBrowser: async () => null };
  return authorized(withoutCookies, 'read', 'MCP').post(
    '/mcp',
    ({ request, key, body }) => {
      const { url, method, headers, signal } = request;
      const token = bearerToken(headers.get('authorization'))!;
      return mcp(new Request(url, { method, headers: withTypes(headers), signal, body }), key, token);
    },
    {
      body: foreignBody(Message, { jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      response: foreignReply(),
      detail: {
        responses: {
          '200': {
            description: 'Success: a message of JSON-RPC 2.0, alone or as the event of a stream',
            content: { 'application/json': { schema: {} }, 'text/event-stream': { schema: {} } },
          },
          '202': { description: 'A notification has arrived' },
          default: {
            description: 'Failure, with the status of its code',
            content: { 'application/json': { schema: { anyOf: FAILURES } } },
          },
        },
        summary: 'Answers a message of the Model Context Protocol (Streamable HTTP, without sessions)',
      },
    },
  );
}
