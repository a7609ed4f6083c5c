/**
 * `npm start`: PostgreSQL, the schema, the roles as child processes, the first key; and all of it stopped in order.
 * Nothing here is on the way of a request.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, type Environment, processEnvironment } from '#platform/config/mod.ts';
import { listOutboxes } from '#platform/log-pipeline/outbox/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { connectPostgres, migrate } from '#platform/postgres/mod.ts';
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
import { requireFreePort } from './ports.ts';
import { type KeptPostgres, keepPostgres } from './postgres.ts';
import { restartOnSignal } from './restart-signal.ts';
import { PORT_VARIABLES, ROLES, type RoleName } from './role-list.ts';
import { type RoleProcess, startRoleProcess } from './role-process.ts';
import { ensureSecretKey } from './secret-key.ts';

export type SuperviseOptions = {
  config: Config;
  log: Logger;
  /** How a role is run as a process of its own: the runtime and its parameters. */
  commandFor(role: RoleName): { command: string; parameters: string[] };
  /** Shows text to whoever started it. */
  print(text: string): void;
};

/** What a role may take beyond `shutdownMs`, which bounds its calls under way: for closing what they needed. */
const GRACE_MS = 5_000;
const DRAIN_POLL_MS = 50;
const STATEMENT_TIMEOUT_MS = 10_000;

/** How long the whole stop can take at most: the steps' own deadlines together, and PostgreSQL's. */
export function superviseDeadlineMs(config: Config): number {
  return (ROLES.length + 1) * (config.shutdownMs + GRACE_MS) + 30_000;
}

/** What runs so far; a start that fails in the middle stops just that. */
type Running = {
  lock: Lock | null;
  postgres: KeptPostgres | null;
  /** What the gateways listen on, where the runtime can give it to them. */
  gatewaySocket: HeldSocket | null;
  roles: Partial<Record<RoleName, RoleProcess>>;
};

/** Waits until ingest has stored what the gateway left, and removed the outbox: it is this process's last gateway. */
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
    // 1. With the last gateway its port closes: who calls then is refused, and does not wait for the next.
    { what: 'Releasing the port', run: async () => gatewaySocket?.release() },
    // 2. No more calls. 3. Ingest, when all records are stored. 4. Evaluators.
    stop('gateway', 'api'),
  ];
  if (roles.gateway !== undefined && roles.ingest !== undefined) {
    steps.push({ what: 'Draining the outbox', run: () => waitForDrainedOutbox(config) });
  }
  steps.push(stop('ingest'), stop('evaluators'));
  // 5. PostgreSQL, when nobody uses it any more. 6. Then the data directory is free.
  if (postgres !== null) {
    steps.push({ what: 'Withdrawing the address', run: async () => withdrawStore(config.dataDir) });
    steps.push({ what: 'Stopping PostgreSQL', run: () => postgres.stop() });
  }
  if (lock !== null) steps.push({ what: 'Unlocking DATA_DIR', run: async () => lock.release() });
  await stopInOrder(steps);
}

/** The last resort: a second signal, or a crash of the supervisor. Records that are on disk stay there. */
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

/** What the gateways are to listen on, made sure of before anything is started; null: they take the port themselves. */
async function takeGatewayPort(config: Config): Promise<HeldSocket | null> {
  const { host, gatewayPort: port, gatewaySocketFd, sharePort } = config;
  if (gatewaySocketFd !== null) return { fd: gatewaySocketFd, release: () => {} };
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

/** For callers on this machine: where the gateways are, and the certificate that they show, whose name is another. */
function addressOf({ address }: RoleProcess, { tls }: Config): Environment {
  return { GATEWAY_URL: address ?? '', ...(tls !== null && { GATEWAY_CERT_FILE: tls.certFile }) };
}

async function startRoles(running: Running, options: SuperviseOptions, url: string): Promise<void> {
  const { config, log } = options;
  const given = processEnvironment();
  const environment: Environment = {
    ...given,
    DATABASE_URL: url,
    DATA_DIR: config.dataDir,
    // Written out, so that each port can name the other one. A given socket may be bound to any.
    GATEWAY_PORT: config.gatewaySocketFd === null ? String(config.gatewayPort) : '0',
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
    // Judges are called through the gateway, whose port may be known only once it serves.
    const ownGateway = role === 'evaluators' && !given.GATEWAY_URL ? addressOf(await gateways, config) : {};
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

async function makeFirstKey(url: string, bootstrapApiKey: string | null): Promise<string | null> {
  const sql = connectPostgres({
    url,
    max: 1,
    applicationName: 'assay-supervisor',
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  try {
    return await ensureFirstKey(sql, bootstrapApiKey);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/**
 * Starts everything, in order, and greets. What it returns is a role like any other: stopping it stops all.
 * @throws Error with a sentence when something does not start; what had started is stopped by then
 */
export async function supervise(options: SuperviseOptions): Promise<Role> {
  const { config, log } = options;
  const running: Running = { lock: null, postgres: null, gatewaySocket: null, roles: {} };
  process.once('exit', () => killAll(running));
  // From the beginning: a signal that nobody listens for ends the process.
  restartOnSignal(async () => running.roles.gateway?.replace(config.shutdownMs + GRACE_MS), log);
  try {
    await prepareDataDir(running, options);
    const url = await startStore(running, options);
    // A key that its operator has chosen works before any role says that it is ready. One that is made up comes last: it
    // is shown once, and a start that failed after it would have shown it to nobody.
    const isChosen = config.bootstrapApiKey !== null;
    const chosenKey = isChosen ? await makeFirstKey(url, config.bootstrapApiKey) : null;
    await startRoles(running, options, url);
    const newKey = isChosen ? chosenKey : await makeFirstKey(url, null);
    const gateway = running.roles.gateway?.address ?? '';
    const api = running.roles.api?.address ?? '';
    options.print(greeting({ gateway, api, newKey, providers: config.providers }));
    return { name: 'supervisor', address: api, stop: () => stopAll(running, config) };
  } catch (error) {
    await stopAll(running, config).catch(() => {});
    throw error;
  }
}
