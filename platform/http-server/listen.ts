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
  /** File descriptor of a bound socket that this process inherited; used instead of host and port. */
  socketFd?: number | null;
};

/** Connections that may wait while the process is busy or restarts; capped by the kernel's own limit. */
const BACKLOG = 4_096;

function describe(error: NodeJS.ErrnoException, sharePort: boolean): string {
  if (error.code === 'EACCES') return 'this user may not use the port';
  if (error.code !== 'EADDRINUSE') return error.message;
  return sharePort ? 'a process that does not share it has the port' : 'the port is taken by another process';
}

/**
 * Makes a server listen. Resolves with its address.
 * @throws Error with a sentence for the operator when it cannot listen on the address
 */
export function listen(server: Server, options: ListenOptions): Promise<AddressInfo> {
  const { host, port, sharePort = false, socketFd = null } = options;
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
