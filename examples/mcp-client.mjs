// A program uses the tools that Assay offers to models: lists them, and finds the newest calls with one.
//
// Needs:  the package @modelcontextprotocol/client, which npm start has installed here
// Run:    KEY=sk-assay-… node examples/mcp-client.mjs
// Prints: the names of the tools, then the answer of one of them as a model would read it
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const { KEY, API = 'http://127.0.0.1:8585' } = process.env;
const client = new Client({ name: 'example', version: '1' });
const headers = { Authorization: `Bearer ${KEY}` };
await client.connect(new StreamableHTTPClientTransport(new URL(`${API}/mcp`), { requestInit: { headers } }));

const { tools } = await client.listTools();
console.log(tools.map(({ name }) => name).join('\n'));

const { content, isError } = await client.callTool({
  name: 'post_request_query',
  arguments: { filter: { response: { status: { equals: 200 } } }, limit: 2 },
});
for (const { text } of content) console.log(text);
if (isError) process.exitCode = 1;

await client.close();
