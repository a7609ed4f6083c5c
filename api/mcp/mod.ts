/** The MCP server at `/mcp`. Its library is loaded for the first client: it is 100 ms of a start and 8 MB, which most installations never use. */
import type { Mcp, McpOptions } from './server.ts';

export type { Dispatch } from './call-tool.ts';
export type { Mcp } from './server.ts';

/** Creates the server. Its tools are those of the document that a key's scopes allow. */
export function createMcp(options: McpOptions): Mcp {
  let loading: Promise<Mcp> | null = null;
  const load = async () => {
    try {
      const { createServer } = await import('./server.ts');
      return createServer(options);
    } catch (error) {
      // Loaded again for the next client: files may have run out for a moment.
      loading = null;
      throw error;
    }
  };
  return async (...call) => {
    loading ??= load();
    const answer = await loading;
    return await answer(...call);
  };
}
