import { lookup } from 'node:dns/promises';
import * as net from 'node:net';
import { getSystemErrorName } from 'node:util';

/**
 * A socket that this process has bound and never accepts from: roles are given it, listen on it, and come and go. The
 * kernel keeps taking connections for as long as one process has it, so whoever calls while a role is replaced, or is
 * started again after a crash, waits for the next one and is not refused. Roles that have it at the same time take
 * turns in accepting.
 */
export type HeldSocket = {
  /** For the `stdio` of a child process. */
  fd: number;
  /** Lets go of it: the port closes with the last role that listens. */
  release(): void;
};

/** What `net._createServerHandle` returns: Node's own cluster module shares sockets so. */
type Handle = { fd: number; getsockname(out: { port?: number }): number; close(): void };

type CreateHandle = (
  address: string,
  port: number,
  family: number,
  fd: number,
  flags: number,
) => Handle | number;

/**
 * Binds an address, or returns null where the runtime cannot hand sockets to child processes (Deno).
 * @throws Error with one sentence when the address cannot be had
 */
export async function holdSocket(host: string, port: number): Promise<HeldSocket | null> {
  const { _createServerHandle: create } = net as unknown as { _createServerHandle?: CreateHandle };
  if (create === undefined || 'Deno' in globalThis) return null;
  const { address, family } = await lookup(host);
  const handle = create(address, port, family, -1, 0);
  const bound: { port?: number } = {};
  // libuv keeps "address in use" to itself until somebody listens; the socket then has no port, or another one.
  const isBound = typeof handle === 'object' && handle.getsockname(bound) === 0 && bound.port !== 0;
  if (!isBound || (port !== 0 && bound.port !== port)) {
    if (typeof handle === 'object') handle.close();
    const why = typeof handle === 'object' ? 'another process has it' : getSystemErrorName(handle);
    throw new Error(`Cannot listen on ${host}:${port}: ${why}`);
  }
  return { fd: handle.fd, release: () => handle.close() };
}
