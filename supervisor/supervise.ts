/**
 * `npm start`: starts PostgreSQL, migrates the schema, runs the roles as child processes and creates the first key; stops
 * all of them in order. No request passes through this process.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, type Environment, processEnvironment } from '#platform/config/mod.ts';
import { listOutboxes } from '#platform/log-pipeline/outbox/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { connectPostgres, migrate, type Sql } from '#platform/postgres/mod.ts';
import { type Role, type StopStep, stopInOrder } from '#platform/process/lifecycle.ts';
import type { Lock } from '#platform/process/process-lock.ts';
import {
  announceStore,
  compiledDirectory,
  lockDataDir,
  waitForFormerRole,
  withdrawStore,
} from './data-dir.ts';
import { ensureFirstKey } from './first-key.ts';
import { startGateways } from './gateways.ts';
import { greeting } from './greeting.ts';
import { type HeldSocket, holdSocket } from './held-socket.ts';
import { dashboardAddress, LINK_RULE, makeLoginLink, takesLogin } from './login-link.ts';
import { requireFreePort } from './ports.ts';
import { type KeptPostgres, keepPostgres } from './postgres.ts';
import { restartOnSignal } from './restart-signal.ts';
import { PORT_VARIABLES, ROLES, type RoleName } from './role-list.ts';
import { type RoleProcess, startRoleProcess } from './role-process.ts';
import { ensureSecretKey } from './secret-key.ts';

export type SuperviseOptions = {
  config: Config;
  log: Logger;
  /** Returns the command line that runs a role as a process of its own: the runtime and its parameters. */
  commandFor(role: RoleName): { command: string; parameters: string[] };
  /** Prints text to the operator. */
  print(text: string): void;
};

/** Time beyond `shutdownMs` for a role to stop. `shutdownMs` limits the calls in flight; this is for closing connections. */
const GRACE_MS = 5_000;
/** Values of HOST with which a gateway can be called at 127.0.0.1. */
const LOCAL_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', '0.0.0.0']);
const DRAIN_POLL_MS = 50;
const STATEMENT_TIMEOUT_MS = 10_000;

/** Returns the longest time a whole stop can take: the sum of the steps' deadlines and PostgreSQL's. */
export function superviseDeadlineMs(config: Config): number {
  return (ROLES.length + 1) * (config.shutdownMs + GRACE_MS) + 30_000;
}

/** The parts that have been started so far. A start that fails midway stops exactly these. */
type Running = {
  lock: Lock | null;
  postgres: KeptPostgres | null;
  /** The socket that the gateways listen on; null where the runtime cannot pass sockets to child processes. */
  gatewaySocket: HeldSocket | null;
  roles: Partial<Record<RoleName, RoleProcess>>;
};

/** Waits until ingest has stored everything in the outbox and removed it; the gateway has already stopped. */
async function waitForDrainedOutbox(config: Config): Promise<void> {
  const deadline = performance.now() + config.shutdownMs;
  while ((await listOutboxes(join(config.dataDir, 'outbox'))).length > 0) {
    if (performance.now() > deadline) {
      throw new Error(`not empty after ${config.shutdownMs} ms; the rest is stored after the next start`);
    }
    await sleep(DRAIN_POLL_MS);
  }
}

async function stopAll(running: Running, config: Config): Promise<void> {
  const { roles, postgres, lock, gatewaySocket } = running;
  const stop = (...names: RoleName[]) => ({
    what: `Stopping ${names.join(' and ')}`,
    run: async () => {
      await Promise.all(names.map((name) => roles[name]?.stop(config.shutdownMs + GRACE_MS)));
    },
  });
  const steps: StopStep[] = [
    // 1. Once released here, the port closes with the last gateway: later clients are refused at once instead of waiting.
    { what: 'Releasing the port', run: async () => gatewaySocket?.release() },
    // 2. The gateways and the API, so that no calls follow. 3. Ingest, once every record is stored. 4. Evaluators.
    stop('gateway', 'api'),
  ];
  if (roles.gateway !== undefined && roles.ingest !== undefined) {
    steps.push({ what: 'Draining the outbox', run: () => waitForDrainedOutbox(config) });
  }
  steps.push(stop('ingest'), stop('evaluators'));
  // 5. PostgreSQL, once no role uses it. 6. Then the data directory is free.
  if (postgres !== null) {
    steps.push({ what: 'Withdrawing the address', run: async () => withdrawStore(config.dataDir) });
    steps.push({ what: 'Stopping PostgreSQL', run: () => postgres.stop() });
  }
  if (lock !== null) steps.push({ what: 'Unlocking DATA_DIR', run: async () => lock.release() });
  await stopInOrder(steps);
}

/** Kills everything at once, after a second signal or a crash of the supervisor. Records on disk stay there. */
function killAll(running: Running): void {
  for (const role of Object.values(running.roles)) role.kill();
  running.postgres?.kill();
}

async function prepareDataDir(running: Running, { config, log }: SuperviseOptions): Promise<void> {
  running.lock = lockDataDir(config.dataDir);
  if (running.lock === null) throw new Error(`Assay already runs in DATA_DIR ${config.dataDir}`);
  for (const role of ROLES) {
    await waitForFormerRole(config.dataDir, role, config.shutdownMs + GRACE_MS, () =>
      log.warn({ role }, `Waiting for the ${role} of an earlier start to end`),
    );
  }
  await requireFreePort({ host: config.host, port: config.apiPort, variable: PORT_VARIABLES.api });
  running.gatewaySocket = await takeGatewayPort(config);
}

/** Binds the gateways' port before anything is started. Null: each gateway binds the port itself. */
async function takeGatewayPort(config: Config): Promise<HeldSocket | null> {
  const { host, gatewayPort: port, gatewaySocketFds, sharePort } = config;
  if (gatewaySocketFds.length > 0) return { fd: gatewaySocketFds[0]!, release: () => {} };
  await requireFreePort({ host, port, variable: PORT_VARIABLES.gateway, sharePort });
  return sharePort ? null : await holdSocket(host, port);
}

async function startStore(running: Running, { config, log }: SuperviseOptions): Promise<string> {
  let url = config.databaseUrl;
  if (url === null) {
    running.postgres = await keepPostgres({ dataDir: config.dataDir, log });
    url = running.postgres.url;
  }
  const { applied } = await migrate(url);
  if (applied.length > 0) log.info({ applied }, 'Migrated the database');
  if (running.postgres !== null) announceStore(config.dataDir, url);
  return url;
}

/** Returns the variables for callers on this machine: the gateways' address and, as its host differs, their certificate. */
function addressOf({ address }: RoleProcess, { tls }: Config): Environment {
  return { GATEWAY_URL: address ?? '', ...(tls !== null && { GATEWAY_CERT_FILE: tls.certFile }) };
}

/** Returns whether the gateway will be where it is called by default, so that those who call it need not wait for its start. */
function isGatewayAtDefault({ host, gatewayPort, gatewaySocketFds }: Config): boolean {
  return gatewayPort !== 0 && gatewaySocketFds.length === 0 && LOCAL_HOSTS.has(host);
}

async function startRoles(running: Running, options: SuperviseOptions, url: string): Promise<void> {
  const { config, log } = options;
  const given = processEnvironment();
  const environment: Environment = {
    ...given,
    DATABASE_URL: url,
    DATA_DIR: config.dataDir,
    // Set explicitly, so that each port's error sentences can name the other port. A socket passed in may have any port.
    GATEWAY_PORT: config.gatewaySocketFds.length === 0 ? String(config.gatewayPort) : '0',
    API_PORT: String(config.apiPort),
    NODE_COMPILE_CACHE: given.NODE_COMPILE_CACHE || compiledDirectory(config.dataDir),
    ...(config.secretKeys.length === 0 && { SECRET_KEY: ensureSecretKey(config.dataDir) }),
  };
  const gateways = startGateways({
    ...options.commandFor('gateway'),
    environment,
    log,
    count: config.gateways,
    socket: running.gatewaySocket,
  });
  const starts = ROLES.map(async (role) => {
    if (role === 'gateway') {
      running.roles.gateway = await gateways;
      return;
    }
    // Judges and the playground are called through the gateway, whose port may be unknown until it serves. Calls that come
    // before it does wait at the socket, which this process holds.
    const callsGateway = (role === 'evaluators' || role === 'api') && !isGatewayAtDefault(config);
    const ownGateway = callsGateway && !given.GATEWAY_URL ? addressOf(await gateways, config) : {};
    running.roles[role] = await startRoleProcess({
      ...options.commandFor(role),
      environment: { ...environment, ...ownGateway },
      log,
      role,
      portVariable: PORT_VARIABLES[role],
    });
  });
  const failed = (await Promise.allSettled(starts)).find((start) => start.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

async function withConnection<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = connectPostgres({
    url,
    max: 1,
    applicationName: 'assay-supervisor',
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

function makeFirstKey(url: string, bootstrapApiKey: string | null): Promise<string | null> {
  return withConnection(url, (sql) => ensureFirstKey(sql, bootstrapApiKey));
}

/** Returns where the dashboard is, as the greeting shows it: with a one-time log-in, where one is taken. */
async function describeDashboard(url: string, config: Config, api: string): Promise<string | null> {
  if (!config.hasDashboard) return null;
  const address = dashboardAddress(config, api);
  if (!takesLogin(config, api)) return `${address}   (log-in needs TLS here: docs/guides/dashboard.md)`;
  const link = await withConnection(url, (sql) =>
    makeLoginLink(sql, { address, key: null, nowMs: Date.now() }),
  );
  return link === null ? address : `${link}   (logs in: ${LINK_RULE})`;
}

/**
 * Starts everything in order and prints the greeting. Returns a role like any other; stopping it stops everything.
 * @throws Error with a sentence when a part does not start; the parts that had started are stopped by then
 */
export async function supervise(options: SuperviseOptions): Promise<Role> {
  const { config, log } = options;
  const running: Running = { lock: null, postgres: null, gatewaySocket: null, roles: {} };
  process.once('exit', () => killAll(running));
  // Registered first: a signal without a listener would end the process.
  restartOnSignal(async () => running.roles.gateway?.replace(config.shutdownMs + GRACE_MS), log);
  try {
    await prepareDataDir(running, options);
    const url = await startStore(running, options);
    // A key chosen by the operator must work before any role reports that it is ready. A generated key comes last: it is
    // shown once, and a start that failed afterwards would never have shown it.
    const isChosen = config.bootstrapApiKey !== null;
    const chosenKey = isChosen ? await makeFirstKey(url, config.bootstrapApiKey) : null;
    await startRoles(running, options, url);
    const newKey = isChosen ? chosenKey : await makeFirstKey(url, null);
    const gateway = running.roles.gateway?.address ?? '';
    const api = running.roles.api?.address ?? '';
    const dashboard = await describeDashboard(url, config, api);
    options.print(greeting({ gateway, api, newKey, providers: config.providers, dashboard }));
    return { name: 'supervisor', address: api, stop: () => stopAll(running, config) };
  } catch (error) {
    await stopAll(running, config).catch(() => {});
    throw error;
  }
}
