/** The bare Node of the comparison: `node bare-proxy.ts <port> <provider's port>`. No keys, no log, no limits. */
import { createServer } from 'node:http';
import { Pool } from 'undici';

const [port, providerPort] = process.argv.slice(2).map(Number);
const provider = new Pool(`http://127.0.0.1:${providerPort}`, { connections: 2_048, pipelining: 1 });
/** Headers that hold for one connection only. */
const OF_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding'];

createServer({ requestTimeout: 0 }, (request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const body = request.method === 'GET' ? null : Buffer.concat(pieces);
    const { authorization = '' } = request.headers;
    const headers = { 'content-type': 'application/json', authorization };
    provider
      .stream({ method: request.method ?? 'GET', path: request.url ?? '/', headers, body }, (answer) => {
        for (const name of OF_CONNECTION) delete answer.headers[name];
        return response.writeHead(answer.statusCode, answer.headers);
      })
      .catch((error: unknown) => response.writeHead(502).end(String(error)));
  });
}).listen({ port, host: '127.0.0.1', backlog: 4_096 });
