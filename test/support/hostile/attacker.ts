/** A server that notes whatever asks it for anything. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Attacker = { origin: string; asked: string[] };

/** Starts it, until `owner` ends. */
export async function startAttacker(owner: { teardown(end: () => Promise<void>): void }): Promise<Attacker> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.setHeader('access-control-allow-origin', '*').end('globalThis.__pwned=1');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  owner.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}
