import { bearerToken } from '#platform/http-server/mod.ts';
import type { Mcp } from '../mcp/mod.ts';
import { authorized, type Keys } from './access.ts';
import { foreignBody, foreignReply } from './declare.ts';

export type McpRoutesOptions = { keys: Keys; mcp: Mcp };

/** `/mcp`: the API as tools for models. Its bodies are the protocol's own, so the protocol's library checks them. */
export function mcpRoutes({ keys, mcp }: McpRoutesOptions) {
  return authorized(keys, 'read', 'MCP').post(
    '/mcp',
    ({ request, key, body }) => {
      const { url, method, headers, signal } = request;
      const token = bearerToken(headers.get('authorization'))!;
      return mcp(new Request(url, { method, headers, signal, body }), key, token);
    },
    {
      body: foreignBody('A message of JSON-RPC 2.0', { jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      response: foreignReply('A message of JSON-RPC 2.0, alone or as an event of a stream'),
      detail: {
        summary: 'Answers a message of the Model Context Protocol (Streamable HTTP, without sessions)',
      },
    },
  );
}
