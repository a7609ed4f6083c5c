import type { AddressInfo, Server } from 'node:net';

export type ListenOptions = {
  host: string;
  /** 0: any free port. */
  port: number;
  /**
   * Shares the port with other processes of this user that share it too (SO_REUSEPORT); the kernel spreads connections among
   * them. Without it, a port that others share counts as taken.
   */
  sharePort?: boolean;
  /**
   * File descriptors of one bound socket that this process inherited; used instead of host and port. Node accepts one connection
   * of each in a turn of its event loop. Default: none.
   */
  socketFds?: readonly number[];
};

/** Connections that may wait while the process is busy or restarts; capped by the kernel's own limit. */
const BACKLOG = 4_096;

function describe(error: NodeJS.ErrnoException, sharePort: boolean): string {
  if (error.code === 'EACCES') return 'this user may not use the port';
  if (error.code !== 'EADDRINUSE') return error.message;
  return sharePort ? 'a process that does not share it has the port' : 'the port is taken by another process';
}

/**
 * Makes servers listen: one, or one for each descriptor.
 * @returns the servers, and the address of all
 * @throws Error with a sentence for the operator when they cannot listen on the address
 */
export async function listen(
  create: () => Server,
  { socketFds = [], ...options }: ListenOptions,
): Promise<{ servers: Server[]; address: AddressInfo }> {
  const servers: Server[] = [];
  const addresses: AddressInfo[] = [];
  try {
    for (const socketFd of socketFds.length > 0 ? socketFds : [null]) {
      const server = create();
      addresses.push(await listenOn(server, options, socketFd));
      servers.push(server);
    }
  } catch (error) {
    for (const server of servers) server.close();
    throw error;
  }
  return { servers, address: addresses[0]! };
}

function listenOn(
  server: Server,
  { host, port, sharePort = false }: Omit<ListenOptions, 'socketFds'>,
  socketFd: number | null,
): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const where = socketFd === null ? `${host}:${port}` : `file descriptor ${socketFd}`;
      reject(new Error(`Cannot listen on ${where}: ${describe(error, sharePort)}`, { cause: error }));
    });
    const onListening = () => {
      const address = server.address();
      if (address !== null && typeof address === 'object') resolve(address);
      else reject(new Error(`Cannot listen on file descriptor ${socketFd}: it is not a TCP socket`));
    };
    if (socketFd === null) {
      server.listen({ host, port, reusePort: sharePort, backlog: BACKLOG }, onListening);
    } else {
      // With `fd`, Node ignores a backlog inside the options object.
      server.listen({ fd: socketFd }, BACKLOG, onListening);
    }
  });
}
