/**
 * The whole product as an operator runs it: the program in a process of its own, with its embedded PostgreSQL, on free
 * ports and in a temporary data directory, under Node or Deno.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makeMemoryDirectory } from './memory-directory.ts';
import { postgresPid } from './postgres.ts';
import { copyPreparedCluster } from './prepared-cluster.ts';
import { tether } from './tether.ts';

export type Runtime = 'node' | 'deno';

export type AssayOptions = {
  runtime?: Runtime;
  /** Beside PATH and HOME, which are passed on, and the ports, which are free ones. */
  environment?: Record<string, string>;
  /**
   * One that a test keeps over several starts, or that is to be made from nothing. A temporary one otherwise, removed at
   * `stop`, which has its PostgreSQL cluster from the beginning where `npm test` has prepared one.
   */
  dataDir?: string;
  /** The directory of another version of this repository, to run that one, with its own dependencies. */
  checkout?: string;
};

/** How a process ended. */
export type Ending = { code: number | null; signal: NodeJS.Signals | null };

/** A run of the program, however it goes. */
export type Run = {
  process: ChildProcess;
  ended: Promise<Ending>;
  stdout(): string;
  stderr(): string;
};

export type Assay = Run & {
  gatewayUrl: string;
  apiUrl: string;
  /** The first key; null when this start did not print one. */
  key: string | null;
  dataDir: string;
  /** The process id of a role's latest start. */
  pidOf(role: string): number;
  /** `kill -9` of a role. */
  kill(role: string): void;
  /** `kill -9` of the embedded PostgreSQL. */
  killPostgres(): void;
  /** SIGTERM, and how it ended. Harmless when it has ended. */
  stop(): Promise<Ending>;
};

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const READY_TIMEOUT_MS = 60_000;

function commandOf(runtime: Runtime, parameters: string[], checkout?: string): [string, string[]] {
  const root = checkout ?? ROOT;
  const bin = join(root, 'node_modules', '.bin');
  if (runtime === 'deno')
    return [join(bin, 'deno'), ['run', '--allow-all', join(root, 'main.ts'), ...parameters]];
  // The bundle, which `npm start` runs too. Older versions have none.
  const bundle = join(root, 'dist', 'main.js');
  const main = checkout === undefined || existsSync(bundle) ? bundle : join(root, 'main.ts');
  const node = checkout === undefined ? process.execPath : join(bin, 'node');
  return [node, ['--disable-warning=ExperimentalWarning', main, ...parameters]];
}

/** What of this process's environment goes to those that it starts: nothing that Assay reads. */
export function inheritedEnvironment(): Record<string, string> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) };
}

/**
 * Runs the program with these parameters, and nothing of this process's environment that Assay reads. It is told to stop
 * when this process is gone.
 * @param temporary a directory that is removed then
 * @param checkout the directory of another version of this repository
 */
export function runMain(
  parameters: string[],
  environment: Record<string, string>,
  runtime: Runtime = 'node',
  temporary?: string,
  checkout?: string,
): Run {
  const [command, all] = commandOf(runtime, parameters, checkout);
  const child = spawn(command, all, {
    env: { ...inheritedEnvironment(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  // Exit, not close: an orphan may hold the pipes for longer than its parent lives.
  const ended = new Promise<Ending>((resolve) => {
    child.once('exit', (code, signal) => setTimeout(() => resolve({ code, signal }), 50));
  });
  tether({ pid: child.pid, ended, signal: 'TERM', ...(temporary !== undefined && { directory: temporary }) });
  return { process: child, ended, stdout: () => stdout, stderr: () => stderr };
}

/** Waits until `probe` is true; the error says what it waited for. */
export async function waitFor(
  what: string,
  probe: () => boolean | Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await probe())) {
    if (performance.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain for ${what}`);
    await sleep(20);
  }
}

/** Whether a process runs. One that has ended counts as gone, though its new parent may not have asked how yet. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch (error) {
    // No /proc: what answers to a signal is alive.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && process.platform !== 'linux';
  }
}

/** Whether every store of the service at this address answers. */
export async function isReady(url: string): Promise<boolean> {
  return await fetch(`${url}/readyz`).then(
    (response) => response.ok,
    () => false,
  );
}

/** What a person reads on stderr: the lines that are not the log's. */
export function sentences(stderr: string): string[] {
  return stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
}

/** A data directory to keep over several starts. */
export function temporaryDataDir(): { path: string; remove(): void } {
  const path = makeMemoryDirectory('assay-test-data-');
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function pidOf(run: Run, role: string): number {
  const starts = [...run.stderr().matchAll(/"started":"([a-z]+)","process":(\d+)/g)].filter(
    (start) => start[1] === role,
  );
  const latest = starts.at(-1);
  if (latest === undefined) throw new Error(`The ${role} was not started:\n${run.stderr()}`);
  return Number(latest[2]);
}

/**
 * Starts Assay and waits until it is ready.
 * @throws Error with everything it said when it ends instead
 */
export async function startAssay(options: AssayOptions = {}): Promise<Assay> {
  const temporary = options.dataDir === undefined ? temporaryDataDir() : null;
  const dataDir = options.dataDir ?? temporary!.path;
  const environment = { GATEWAY_PORT: '0', API_PORT: '0', DATA_DIR: dataDir, ...options.environment };
  // The prepared cluster has this version's tables.
  const canCopy = !('DATABASE_URL' in environment) && options.checkout === undefined;
  if (temporary !== null && canCopy) await copyPreparedCluster(dataDir);
  const run = runMain([], environment, options.runtime, temporary?.path, options.checkout);
  let ended = false;
  void run.ended.then(() => {
    ended = true;
  });
  const hasGreeted = () => run.stdout().includes('Assay is ready') && run.stdout().endsWith('\n\n');
  await waitFor('Assay to start', () => hasGreeted() || ended, READY_TIMEOUT_MS).catch((error: Error) => {
    run.process.kill('SIGKILL');
    throw new Error(`${error.message}:\n${run.stderr()}`);
  });
  if (ended) throw new Error(`Assay did not start:\n${run.stderr()}`);
  const find = (pattern: RegExp) => pattern.exec(run.stdout())?.[1] ?? null;
  return {
    ...run,
    gatewayUrl: (find(/gateway {2}(\S+)/) ?? '').replace(/\/v1$/, ''),
    apiUrl: find(/API {6}(\S+)/) ?? '',
    key: find(/API key {2}(\S+)/),
    dataDir,
    pidOf: (role) => pidOf(run, role),
    kill: (role) => process.kill(pidOf(run, role), 'SIGKILL'),
    killPostgres: () => process.kill(postgresPid(dataDir), 'SIGKILL'),
    async stop() {
      run.process.kill('SIGTERM');
      const ending = await run.ended;
      temporary?.remove();
      return ending;
    },
  };
}
