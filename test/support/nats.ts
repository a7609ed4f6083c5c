/** Real nats-server processes for tests. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { tether } from './tether.ts';

export type NatsServer = {
  url: string;
  port: number;
  /** Where JetStream keeps what it stores. */
  storeDirectory: string;
  readonly process: ChildProcess;
  /** `kill -9`, and waits until it is gone. */
  kill(): Promise<void>;
  /** Starts it again on its port, with what it stored, or with nothing. */
  restart(options?: { emptied?: boolean; jetStream?: boolean }): Promise<void>;
  /** Ends it and removes what it stored. */
  [Symbol.asyncDispose](): Promise<void>;
};

export type NatsOptions = {
  jetStream?: boolean;
  /** Another server than the one on PATH. */
  binary?: string;
  /** Limits of JetStream. */
  limits?: string;
  /** More lines of nats-server's configuration file. */
  config?: string;
};

const READY_TIMEOUT_MS = 60_000;

/** Why tests with NATS cannot run here; false when they can. In CI a missing server is a failure, not a reason to skip. */
export function natsIsMissing(): string | false {
  if (spawnSync('nats-server', ['--version']).status === 0 || process.env.CI === 'true') return false;
  return 'nats-server is not on PATH: install it (Debian: apt-get install nats-server)';
}

/** Starts a server on a free port, with a store of its own. */
export async function startNats(options: NatsOptions = {}): Promise<NatsServer> {
  const directory = mkdtempSync(join(tmpdir(), 'assay-test-nats-'));
  const storeDirectory = join(directory, 'store');
  const port = await freePort();
  let jetStream = options.jetStream ?? true;

  const start = async (): Promise<ChildProcess> => {
    const store = jetStream ? `jetstream { store_dir: "${storeDirectory}", ${options.limits ?? ''} }` : '';
    const file = join(directory, 'nats.conf');
    writeFileSync(file, `listen: 127.0.0.1:${port}\n${store}\n${options.config ?? ''}\n`);
    const child = spawn(options.binary ?? 'nats-server', ['-c', file], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    tether({ pid: child.pid, ended, signal: 'KILL', directory });
    let said = '';
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(
        () => reject(new Error(`nats-server is not ready:\n${said}`)),
        READY_TIMEOUT_MS,
      );
      child.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (!said.includes('Server is ready')) return;
        clearTimeout(late);
        resolve();
      });
      child.once('error', reject);
      child.once('exit', () => reject(new Error(`nats-server ended:\n${said}`)));
    });
    return child;
  };

  let child = await start();
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    storeDirectory,
    get process() {
      return child;
    },
    kill,
    async restart(again = {}) {
      await kill();
      if (again.emptied === true) rmSync(storeDirectory, { recursive: true, force: true });
      jetStream = again.jetStream ?? jetStream;
      child = await start();
    },
    async [Symbol.asyncDispose]() {
      await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
