/** Runs the product as an operator does: the program in a process of its own, on free ports, in a temporary directory. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type RunningAssay = {
  gatewayUrl: string;
  apiUrl: string;
  apiKey: string;
  /** A link that logs a browser in, once. */
  dashboardUrl: string;
  /** Stops all services and removes their directory. */
  stop(): Promise<void>;
};

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
/** Time for the first start, which creates a PostgreSQL cluster: some seconds, on a slow disk tens of them. */
const READY_WITHIN_MS = 60_000;

/**
 * Starts all services and waits until they are ready.
 * @param environment variables beside PATH and HOME; the services inherit no others
 * @throws Error with the services' stderr when they end, or are not ready in time
 */
export async function launchAssay(
  inherited: { PATH: string; HOME: string },
  environment: Record<string, string>,
): Promise<RunningAssay> {
  const dataDir = mkdtempSync(join(tmpdir(), 'assay-demo-'));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN], {
    env: { ...inherited, GATEWAY_PORT: '0', API_PORT: '0', DATA_DIR: dataDir, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => child.kill('SIGTERM');
  process.once('exit', kill);
  const ended = once(child, 'exit');
  let stdout = '';
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const stop = async () => {
    kill();
    await ended;
    process.off('exit', kill);
    rmSync(dataDir, { recursive: true, force: true });
  };
  const isReady = await new Promise<boolean>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      // An empty line ends the greeting.
      if (stdout.includes('Assay is ready') && stdout.endsWith('\n\n')) resolve(true);
    });
    child.once('exit', () => resolve(false));
    setTimeout(() => resolve(false), READY_WITHIN_MS).unref();
  });
  if (!isReady) {
    await stop();
    throw new Error(`The services did not start:\n${stderr}`);
  }
  const find = (pattern: RegExp) => pattern.exec(stdout)?.[1] ?? '';
  return {
    gatewayUrl: find(/gateway {2}(\S+)\/v1/),
    apiUrl: find(/API {6}(\S+)/),
    apiKey: find(/API key {2}(\S+)/),
    dashboardUrl: find(/dashboard {2}(\S+)/),
    stop,
  };
}
