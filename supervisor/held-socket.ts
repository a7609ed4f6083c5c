import { lookup } from 'node:dns/promises';
import * as net from 'node:net';
import { getSystemErrorName } from 'node:util';

/**
 * A socket that this process binds but never accepts from. Roles receive it, listen on it, and come and go. The kernel
 * accepts connections for as long as any process holds the socket, so a client that connects while a role is replaced, or
 * restarts after a crash, waits for the next process and is not refused. Processes that hold it together share the
 * connections.
 */
export type HeldSocket = {
  /** The file descriptor, for the `stdio` of a child process. */
  fd: number;
  /** Closes it here; the port closes with the last process that listens. */
  release(): void;
};

/** The result of `net._createServerHandle`, with which Node's own cluster module shares sockets. */
type Handle = { fd: number; getsockname(out: { port?: number }): number; close(): void };

type CreateHandle = (
  address: string,
  port: number,
  family: number,
  fd: number,
  flags: number,
) => Handle | number;

/**
 * Binds an address. Returns null where the runtime cannot pass sockets to child processes (Deno).
 * @throws Error with one sentence when the address cannot be bound
 */
export async function holdSocket(host: string, port: number): Promise<HeldSocket | null> {
  const { _createServerHandle: create } = net as unknown as { _createServerHandle?: CreateHandle };
  if (create === undefined || 'Deno' in globalThis) return null;
  const { address, family } = await lookup(host);
  const handle = create(address, port, family, -1, 0);
  const bound: { port?: number } = {};
  // libuv reports "address in use" only on listen; until then the socket has no port, or another one.
  const isBound = typeof handle === 'object' && handle.getsockname(bound) === 0 && bound.port !== 0;
  if (!isBound || (port !== 0 && bound.port !== port)) {
    if (typeof handle === 'object') handle.close();
    const why = typeof handle === 'object' ? 'another process has it' : getSystemErrorName(handle);
    throw new Error(`Cannot listen on ${host}:${port}: ${why}`);
  }
  return { fd: handle.fd, release: () => handle.close() };
}
