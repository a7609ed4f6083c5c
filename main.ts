/**
 * The command line. `npm start` runs everything, `npm start <role>` runs one role, and `npm start -- keys …` and similar
 * commands manage stored data. A role's code is loaded only in the process that runs it.
 */

import { fileURLToPath } from 'node:url';
import { Argument, Command } from 'commander';
import { KEY_CHANGES_SUBJECT } from '#core/contracts/channels.ts';
import { type Config, processEnvironment, readConfig } from '#platform/config/mod.ts';
import { announceChange } from '#platform/nats/mod.ts';
import { createLogger, type Logger } from '#platform/observability/log.ts';
import { createMetrics } from '#platform/observability/metrics.ts';
import { isLoopback } from '#platform/outbound/mod.ts';
import { type Clock, systemClock } from '#platform/process/clock.ts';
import {
  operatorSentence,
  type Role,
  runRole,
  STOP_GRACE_MS,
  stopInOrder,
} from '#platform/process/lifecycle.ts';
import { giveBackWhenIdle } from '#platform/process/memory.ts';
import { VERSION } from '#platform/process/version.ts';
import {
  type DeadLetterStore,
  deadLettersCommand,
  experimentsCommand,
  exportCommand,
  judgmentsCommand,
  keysCommand,
  lockRole,
  loginLinkCommand,
  migrateStore,
  organizationsCommand,
  ROLES,
  type RoleName,
  type RollupStore,
  type RunCommand,
  rollupsCommand,
  supervise,
  superviseDeadlineMs,
  withStore,
} from './supervisor/mod.ts';

type StartOptions = { config: Config; log: Logger; clock: Clock };
type StartRole = (options: StartOptions) => Promise<Role>;

/**
 * Starts ingest, and in the same process the sinks, which follow the records that it stores. Failures of the sinks do not
 * affect ingest.
 */
async function startIngestWithSinks(options: StartOptions): Promise<Role> {
  const [{ startIngest }, { startSinks }] = await Promise.all([
    import('./ingest/mod.ts'),
    import('./sinks/mod.ts'),
  ]);
  const metrics = createMetrics('ingest');
  let onStored = () => {};
  const ingest = await startIngest({ ...options, metrics, onStored: () => onStored() });
  const sinks = startSinks({ ...options, metrics });
  onStored = sinks.wake;
  return {
    ...ingest,
    stop: () =>
      stopInOrder([
        // First, because it takes two seconds at most; later changes wait in the feed for the next start.
        { what: 'Stopping the sinks', run: sinks.stop },
        { what: 'Stopping ingest', run: ingest.stop },
      ]),
  };
}

/** Starts the API, whose callers retry dead letters as the command line does: by ingest's code, loaded with the first retry. */
async function startApiWithRetries(options: StartOptions): Promise<Role> {
  const { startApi } = await import('./api/mod.ts');
  return await startApi({
    ...options,
    retryDeadLetter: async (...retry) => (await loadDeadLetters()).retryDeadLetter(...retry),
  });
}

const ROLE_MODULES: Record<RoleName, () => Promise<StartRole>> = {
  gateway: async () => (await import('./gateway/mod.ts')).startGateway,
  api: async () => startApiWithRetries,
  ingest: async () => startIngestWithSinks,
  evaluators: async () => (await import('./evaluators/mod.ts')).startEvaluators,
};

/** Returns whether a server on this host listens on all addresses of its machine. */
function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

function fail(error: unknown): never {
  process.stderr.write(`${operatorSentence(error)}\n`);
  process.exit(1);
}

/** Reads the configuration; ends the process with one line for each invalid variable. */
function configOrExit(): Config {
  const result = readConfig(processEnvironment());
  if (result.ok) return result.config;
  process.stderr.write(`${result.problems.join('\n')}\n`);
  process.exit(1);
}

/** Returns the command line that runs this program for one role under the same runtime. */
function commandFor(role: RoleName): { command: string; parameters: string[] } {
  const program = [fileURLToPath(import.meta.url), role, '--supervised'];
  const runtime = 'Deno' in globalThis ? ['run', '--allow-all'] : ['--disable-warning=ExperimentalWarning'];
  return { command: process.execPath, parameters: [...runtime, ...program] };
}

/** Warns when keys and conversations would cross a network unencrypted. */
function warnOfPlainHttp({ host, tls }: Config, log: Logger): void {
  if (tls !== null || isLoopback(host)) return;
  log.warn(
    { host },
    'HOST is not loopback and there is no TLS: keys and conversations are readable on the network, unless a proxy in front serves TLS (docs/deployment.md)',
  );
}

/** Settles when the supervisor has ended, however it ended: it holds the other end of stdin and writes nothing. */
function supervisorIsGone(): Promise<void> {
  return new Promise((resolve) => {
    process.stdin.once('end', resolve).once('close', resolve).once('error', resolve).resume();
  });
}

async function runOne(name: RoleName, supervised: boolean): Promise<void> {
  const config = configOrExit();
  const log = createLogger({ role: name, level: config.logLevel });
  if (!supervised && (name === 'gateway' || name === 'api')) warnOfPlainHttp(config, log);
  const start = async () => {
    if (config.databaseUrl === null) throw new Error(`The ${name} run by itself needs DATABASE_URL`);
    if (supervised) lockRole(config.dataDir, name);
    const startRole = await ROLE_MODULES[name]();
    const role = await startRole({ config, log, clock: systemClock });
    giveBackWhenIdle();
    return role;
  };
  await runRole(start, {
    deadlineMs: config.shutdownMs + STOP_GRACE_MS,
    ...(supervised && {
      abandoned: supervisorIsGone(),
      onReady: ({ address }: Role) => process.stdout.write(`${JSON.stringify({ address })}\n`),
    }),
  });
}

async function runAll(): Promise<void> {
  const config = configOrExit();
  const log = createLogger({ role: 'supervisor', level: config.logLevel });
  warnOfPlainHttp(config, log);
  const print = (text: string) => process.stdout.write(text);
  const start = async () => {
    const everything = await supervise({ config, log, commandFor, print });
    giveBackWhenIdle();
    return everything;
  };
  await runRole(start, {
    deadlineMs: superviseDeadlineMs(config),
  });
}

/** Options for commands, whose output is for a person: only errors are logged beside it. */
function storeOptions(): { config: Config; log: Logger } {
  const config = configOrExit();
  return { config, log: createLogger({ role: 'command', level: 'error' }) };
}

const runCommand: RunCommand = async (work) => {
  process.stdout.write(`${await withStore(storeOptions(), work)}\n`);
};

/** Loads ingest's dead-letter functions; a retried record is priced as ingest would price it. */
async function loadDeadLetters(): Promise<DeadLetterStore> {
  const [ingest, { createCatalog }] = await Promise.all([
    import('./ingest/mod.ts'),
    import('#core/models/mod.ts'),
  ]);
  const catalog = createCatalog(configOrExit().models);
  return {
    ...ingest,
    retryDeadLetter: (sql, id, options) => ingest.retryDeadLetter(sql, id, { ...options, catalog }),
    retryAllDeadLetters: (sql) => ingest.retryAllDeadLetters(sql, { catalog }),
  };
}

/** Loads the sinks' functions for roll-ups. */
const loadRollups = async (): Promise<RollupStore> => await import('./sinks/mod.ts');

/** Runs a command that changes keys or organizations, and announces the change to every process. */
const runKeyCommand: RunCommand = async (work) => {
  await runCommand(work);
  const { config, log } = storeOptions();
  if (config.nats !== null) {
    await announceChange({ subject: KEY_CHANGES_SUBJECT, address: config.nats, name: 'assay-command', log });
  }
};

/** Returns the API's address by a configuration, for a caller on this machine. */
function apiAddress({ host, apiPort, tls }: Config): string {
  const address = isAnyAddress(host) ? 'localhost' : host;
  return `${tls === null ? 'http' : 'https'}://${address.includes(':') ? `[${address}]` : address}:${apiPort}`;
}

/** Returns what the login-link command needs beside the database. */
function loginLinkEnvironment() {
  const config = configOrExit();
  return { config, api: apiAddress(config) };
}

/** Returns what commands that call the API need: the API of this configuration, and a key for it. */
function apiEnvironment() {
  const config = configOrExit();
  return {
    url: apiAddress(config),
    key: config.apiKey,
    clock: systemClock,
    progress: process.stderr,
    print: (line: string) => process.stdout.write(`${line}\n`),
  };
}

/** Runs a gate against the API of this configuration, by the program that CI machines download. */
async function runGateHere(parameters: string[]): Promise<number> {
  const { runGate } = await import('./api/mod.ts');
  const config = configOrExit();
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  return await runGate(parameters, {
    url: apiAddress(config),
    key: config.apiKey,
    variables: processEnvironment(),
    progress: process.stderr,
    print: (text: string) => process.stdout.write(text),
    stop: stop.signal,
  });
}

async function runMigrations(): Promise<void> {
  const { applied } = await migrateStore(storeOptions());
  const what = applied.length === 0 ? 'The schema is up to date' : `Applied ${applied.join(', ')}`;
  process.stdout.write(`${what}\n`);
}

async function main(): Promise<void> {
  const program = new Command('assay')
    .description('An LLM gateway that logs every request and grades the answers')
    .version(VERSION);
  program
    .addArgument(
      new Argument('[role]', 'run one role against DATABASE_URL; all of them without it').choices(ROLES),
    )
    .option('--supervised', 'started by the supervisor: end with it')
    .action((role: RoleName | undefined, { supervised = false }: { supervised?: boolean }) =>
      role === undefined ? runAll() : runOne(role, supervised),
    );
  program.command('migrate').description('apply the migrations that are missing').action(runMigrations);
  program
    .addCommand(keysCommand(runKeyCommand))
    .addCommand(organizationsCommand(runKeyCommand))
    .addCommand(loginLinkCommand(runCommand, loginLinkEnvironment))
    .addCommand(deadLettersCommand(runCommand, loadDeadLetters))
    .addCommand(rollupsCommand(runCommand, loadRollups))
    .addCommand(exportCommand(apiEnvironment))
    .addCommand(experimentsCommand(runGateHere))
    .addCommand(judgmentsCommand(apiEnvironment));
  try {
    await program.parseAsync();
  } catch (error) {
    fail(error);
  }
}

await main();
