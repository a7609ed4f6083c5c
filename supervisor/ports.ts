import { createServer } from 'node:net';

export type PortOptions = {
  host: string;
  port: number;
  /** The variable that sets the port. */
  variable: string;
  /** Whether it is good enough that those who have it share it. */
  sharePort?: boolean;
};

/**
 * Makes sure that an address is free before anything is started for it. The role that takes it a moment later says the
 * same if it is lost in between.
 * @throws Error with a sentence that names the variable
 */
export function requireFreePort({ host, port, variable, sharePort = false }: PortOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'another process has it' : error.message;
      reject(
        new Error(`Cannot listen on ${host}:${port}: ${why}; set ${variable} to another port`, {
          cause: error,
        }),
      );
    });
    probe.listen({ host, port, reusePort: sharePort }, () => probe.close(() => resolve()));
  });
}
