/** The embedded PostgreSQL as a process: starting, stopping, and noticing its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '#platform/observability/log.ts';
import { settlesWithin } from '#platform/process/deadline.ts';
import { probePort } from '../ports.ts';
import { type Account, chooseAccount } from './account.ts';
import { findBinaries } from './binaries.ts';
import { initialize, SUPERUSER } from './initialize.ts';
import { isReady, stopOrphan } from './postmaster-file.ts';

export type EmbeddedPostgres = {
  /** The superuser's connection URL, with the password. */
  url: string;
  port: number;
  /** Settles when the server's process has ended, by request or not. */
  exited: Promise<void>;
  /** Stops it: sessions are cut, committed data is kept. */
  stop(): Promise<void>;
  /** Kills it at once, without waiting; the next start recovers committed data. */
  kill(): void;
};

export type EmbeddedPostgresOptions = {
  /** Assay's data directory, locked by the caller; the cluster is in `postgres` below it. */
  dataDir: string;
  log: Logger;
  /** A restarted server keeps its port, so that its URL stays valid. */
  port?: number;
  /** More `-c name=value` settings. */
  settings?: Record<string, string>;
};

const START_TIMEOUT_MS = 60_000;
const FAST_SHUTDOWN_MS = 15_000;
const IMMEDIATE_SHUTDOWN_MS = 5_000;
const ATTEMPTS = 5;
/** What PostgreSQL says while processes of a killed server live: they notice its death within a moment. */
const STILL_USED = 'pre-existing shared memory block';
const STILL_USED_MS = 1_000;
const KEPT_LOG_LINES = 20;

const SETTINGS: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '256MB',
  // A look-up by id locks all partitions and their indexes, 19 a week of data: with 64, ten at a time fail after a year or two.
  max_locks_per_transaction: '1024',
  // An idle server wakes once a second for each of these instead of five times. As much is written by the one as by default; what
  // the other writes is flushed by each batch of ingest before that.
  bgwriter_delay: '1s',
  bgwriter_lru_maxpages: '500',
  wal_writer_delay: '1s',
  // A failing statement may contain users' data.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
};

/** Forwards the server's log, and keeps its last lines for the error sentence when it does not start. */
function followLog(child: ChildProcess, log: Logger): string[] {
  const lastLines: string[] = [];
  child.stderr?.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().split('\n')) {
      if (line === '') continue;
      lastLines.push(line);
      if (lastLines.length > KEPT_LOG_LINES) lastLines.shift();
      if (/ (WARNING|FATAL|PANIC): /.test(line)) log.warn({ postgres: line }, 'PostgreSQL says');
      else log.debug({ postgres: line }, 'PostgreSQL says');
    }
  });
  return lastLines;
}

type Server = { child: ChildProcess; exited: Promise<void>; lastLines: string[] };

function spawnServer(
  account: Account,
  postgres: string,
  cluster: string,
  port: number,
  options: EmbeddedPostgresOptions,
): Server {
  const settings = Object.entries({ ...SETTINGS, ...options.settings }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const { command, parameters, ...ids } = account.run(postgres, [
    '-D',
    cluster,
    '-p',
    String(port),
    ...settings,
  ]);
  // Detached, because Ctrl-C in a terminal signals every process of the group, and PostgreSQL must stop last.
  const child = spawn(command, parameters, {
    ...ids,
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  return { child, exited, lastLines: followLog(child, options.log) };
}

async function isUp(server: Server, cluster: string): Promise<boolean> {
  let ended = false;
  void server.exited.then(() => {
    ended = true;
  });
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!ended && performance.now() < deadline) {
    if (isReady(cluster, server.child.pid ?? -1)) return true;
    await sleep(20);
  }
  return false;
}

async function stopServer({ child, exited }: Server): Promise<void> {
  const steps = [
    { signal: 'SIGINT', waitMs: FAST_SHUTDOWN_MS },
    { signal: 'SIGQUIT', waitMs: IMMEDIATE_SHUTDOWN_MS },
    { signal: 'SIGKILL', waitMs: IMMEDIATE_SHUTDOWN_MS },
  ] as const;
  for (const { signal, waitMs } of steps) {
    child.kill(signal);
    if (await settlesWithin(exited, waitMs)) return;
  }
}

/**
 * Starts the embedded PostgreSQL in `dataDir`, and creates its cluster the first time. It listens only on loopback. A server
 * that an earlier supervisor left behind is stopped first.
 * @throws Error with one sentence when it cannot start
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  mkdirSync(options.dataDir, { recursive: true, mode: 0o711 });
  const { initdb, postgres } = await findBinaries();
  const account = chooseAccount([postgres, `${options.dataDir}/postgres`]);
  const { cluster, password } = await initialize(options.dataDir, account, initdb);
  const { stopped } = await stopOrphan(cluster);
  if (stopped) options.log.warn('Stopped the PostgreSQL that an earlier start had left running');
  let lastLines: string[] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = options.port ?? (await probePort({ host: '127.0.0.1', port: 0 }));
    const server = spawnServer(account, postgres, cluster, port, options);
    if (await isUp(server, cluster)) {
      return {
        url: `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`,
        port,
        exited: server.exited,
        stop: () => stopServer(server),
        kill: () => server.child.kill('SIGQUIT'),
      };
    }
    await stopServer(server);
    ({ lastLines } = server);
    const says = (words: string) => lastLines.some((line) => line.includes(words));
    if (says(STILL_USED)) await sleep(STILL_USED_MS);
    // Another process may have taken the port since it was found free.
    else if (!says('could not create any TCP/IP sockets')) break;
  }
  throw new Error(`The embedded PostgreSQL does not start: ${lastLines.join(' | ') || 'it wrote no log'}`);
}
