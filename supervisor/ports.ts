import { createServer, type ListenOptions } from 'node:net';

export type PortOptions = {
  host: string;
  port: number;
  /** The variable that sets the port. */
  variable: string;
  /** True when the address may be shared with other processes that share it too (SO_REUSEPORT). */
  sharePort?: boolean;
};

/** Error codes of a host that is no address of this machine, on whatever port. */
const HOST_CODES: ReadonlySet<string | undefined> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL']);

/** Listens on an address for a moment. Resolves with its port, which the system chooses for port 0; rejects when it cannot. */
export function probePort(options: ListenOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(options, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/**
 * Checks that an address is free before anything is started for it. If another process takes it in between, the role that
 * binds it a moment later reports the same.
 * @throws Error with a sentence that names the variable
 */
export async function requireFreePort({
  host,
  port,
  variable,
  sharePort = false,
}: PortOptions): Promise<void> {
  try {
    await probePort({ host, port, reusePort: sharePort });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'another process has it' : message;
    const remedy = HOST_CODES.has(code)
      ? 'HOST to an address of this machine'
      : `${variable} to another port`;
    throw new Error(`Cannot listen on ${host}:${port}: ${why}; set ${remedy}`, { cause });
  }
}
