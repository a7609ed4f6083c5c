/** Everything that a run brings up, each part a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createKey, createOrganization } from '#platform/keys/mod.ts';
import { connectPostgres, migrate, type Sql } from '#platform/postgres/mod.ts';
import { PORT_VARIABLES } from '../../../supervisor/role-list.ts';
import { freePort } from '../../support/free-port.ts';
import { type NatsServer, startNats } from '../../support/nats.ts';
import { boundedDisk, type Disk, smallDisk } from './disk.ts';
import { GATEWAYS, type GatewayName, INGESTS } from './faults.ts';
import { Postgres } from './postgres.ts';
import { Service, type ServiceRole } from './service.ts';

export type Gateway = {
  service: Service;
  disk: Disk;
  dataDir: string;
  /** Who writes log entries to this disk: the gateway, and whoever shares it. */
  writers: Service[];
};

export type World = {
  /** Logs, ledgers, outboxes, and the data of PostgreSQL. */
  directory: string;
  postgres: Postgres;
  nats: NatsServer;
  gateways: Record<GatewayName, Gateway>;
  /** Shares the second gateway's disk: each takes up what the other leaves when it is killed. */
  api: Service;
  ingests: Service[];
  /** All of these. */
  services: Service[];
  key: string;
  /** Past the door that is shut for the services. */
  sql: Sql;
  /** The numbers of the calls that reached the provider, a line each. */
  reachedPath: string;
  /** Ends what still runs. `keep`: the directory stays, for whoever looks into a loss. */
  dispose(options: { keep: boolean }): Promise<void>;
};

const PROVIDER = fileURLToPath(new URL('./provider-process.ts', import.meta.url));
/** A bound that only a filled disk reaches. */
const OUTBOX_MAX_BYTES = 8 * 1024 ** 3;
/** Slow streams take longer, so that some are cut off by a stop. */
const SHUTDOWN_TIMEOUT_MS = 3_000;

async function startProvider(reachedPath: string): Promise<{ child: ChildProcess; url: string }> {
  const parameters = ['--disable-warning=ExperimentalWarning', PROVIDER, reachedPath];
  const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [port] = (await once(child, 'message')) as [number];
  return { child, url: `http://127.0.0.1:${port}/v1` };
}

async function connect(url: string): Promise<{ sql: Sql; key: string }> {
  await migrate(url);
  const sql = connectPostgres({ url, max: 2, applicationName: 'chaos', statementTimeoutMs: 600_000 });
  const { organizationId } = await createOrganization(sql, { name: 'chaos', tier: 'enterprise' });
  const { key } = await createKey(sql, { organizationId, scopes: ['gateway', 'write'], name: 'chaos' });
  return { sql, key };
}

/** A data directory for a gateway; the first one's is a disk of its own where that is allowed. */
function makeDisk(name: GatewayName, dataDir: string): Disk {
  mkdirSync(dataDir);
  return (name === GATEWAYS[0] ? smallDisk(dataDir) : null) ?? boundedDisk(dataDir, OUTBOX_MAX_BYTES);
}

/** Brings everything up. */
export async function startWorld(): Promise<World> {
  const directory = mkdtempSync(join(tmpdir(), 'assay-chaos-'));
  const reachedPath = join(directory, 'reached');
  const parts = new AsyncDisposableStack();
  // Should this process end in a hurry, the others must not outlive it.
  const endings: (() => void)[] = [];
  const abandon = () => {
    for (const end of endings) end();
  };
  process.once('exit', abandon);
  parts.defer(() => {
    process.removeListener('exit', abandon);
  });

  const bringUp = async (): Promise<World> => {
    const postgres = await Postgres.start(join(directory, 'postgres'));
    parts.defer(() => postgres.stop());
    endings.push(() => postgres.abandon());
    const { sql, key } = await connect(postgres.directUrl);
    parts.defer(() => sql.end({ timeout: 1 }));
    const nats = parts.use(await startNats());
    endings.push(() => nats.process.kill('SIGKILL'));
    const provider = await startProvider(reachedPath);
    parts.defer(() => void provider.child.kill('SIGKILL'));

    const start = async (
      name: string,
      role: ServiceRole,
      dataDir: string,
      logDir = directory,
    ): Promise<Service> => {
      const port = String(await freePort());
      const environment = {
        DATABASE_URL: postgres.url,
        NATS_URL: nats.url,
        DATA_DIR: dataDir,
        [PORT_VARIABLES[role]]: port,
        OPENAI_BASE_URL: provider.url,
        OPENAI_API_KEY: 'sk-chaos',
        OUTBOX_MAX_BYTES: String(OUTBOX_MAX_BYTES),
        SHUTDOWN_TIMEOUT_MS: String(SHUTDOWN_TIMEOUT_MS),
      };
      const url = `http://127.0.0.1:${port}`;
      const service = new Service({ name, role, environment, url, logPath: join(logDir, `${name}.log`) });
      service.start();
      parts.defer(() => service.abandon());
      endings.push(() => void service.abandon());
      return service;
    };
    const startGateway = async (name: GatewayName): Promise<Gateway> => {
      const dataDir = join(directory, name);
      const disk = makeDisk(name, dataDir);
      parts.defer(() => disk.remove());
      endings.push(() => disk.remove());
      // Its log too, as on a machine with one disk.
      const service = await start(name, 'gateway', dataDir, dataDir);
      return { disk, dataDir, service, writers: [service] };
    };
    const [first, second] = GATEWAYS;
    const gateways: World['gateways'] = {
      [first]: await startGateway(first),
      [second]: await startGateway(second),
    };
    const api = await start('api', 'api', gateways[second].dataDir);
    gateways[second].writers.push(api);
    const ingests = await Promise.all(INGESTS.map((name) => start(name, 'ingest', join(directory, name))));
    const services = [...Object.values(gateways).map(({ service }) => service), api, ...ingests];
    const dispose: World['dispose'] = async ({ keep }) => {
      if (keep) keepDisks(Object.values(gateways));
      await parts.disposeAsync();
      if (!keep) rmSync(directory, { recursive: true, force: true });
    };
    return { directory, postgres, nats, gateways, api, ingests, services, key, sql, reachedPath, dispose };
  };
  try {
    return await bringUp();
  } catch (error) {
    await parts.disposeAsync();
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

/** What is on a disk of its own goes with it. */
function keepDisks(gateways: readonly Gateway[]): void {
  for (const { dataDir } of gateways) cpSync(dataDir, `${dataDir}.kept`, { recursive: true });
}
