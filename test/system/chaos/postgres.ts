/** The run's own PostgreSQL, behind a door that can be shut: the services know the door only. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '#platform/observability/log.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../supervisor/postgres/server.ts';
import { postgresPid } from '../../support/postgres.ts';
import { type TcpProxy, tcpProxy } from '../../support/tcp-proxy.ts';
import { tether } from '../../support/tether.ts';

/** What is written need not outlive a power cut, but must outlive the server: commits are synchronous. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: '50' };

export class Postgres {
  /** For the services. */
  readonly url: string;
  /** For the run itself: past the door. */
  readonly directUrl: string;
  readonly #door: TcpProxy;
  readonly #dataDir: string;
  #server: EmbeddedPostgres;

  private constructor(dataDir: string, server: EmbeddedPostgres, door: TcpProxy) {
    this.#dataDir = dataDir;
    this.#server = server;
    this.#door = door;
    this.url = door.url;
    this.directUrl = server.url;
  }

  static async start(dataDir: string): Promise<Postgres> {
    const server = await startServer(dataDir);
    return new Postgres(dataDir, server, await tcpProxy(server.url));
  }

  /** Ends all connections, and refuses new ones for a while. */
  async cut(forMs: number): Promise<void> {
    await this.#door.cut();
    await sleep(forMs);
    await this.#door.restore();
  }

  /** Lets nothing through for a while, and keeps connections open. */
  async freeze(forMs: number): Promise<void> {
    this.#door.freeze();
    await sleep(forMs);
    this.#door.thaw();
  }

  /** Ends all of its processes as a crash does; started again after a while, it recovers. */
  async crash(downMs: number): Promise<void> {
    const { port } = this.#server;
    this.#server.kill();
    await this.#server.exited;
    await sleep(downMs);
    this.#server = await startServer(this.#dataDir, port);
  }

  /** Ends it without waiting. */
  abandon(): void {
    this.#server.kill();
  }

  async stop(): Promise<void> {
    await this.#door.close();
    await this.#server.stop();
  }
}

async function startServer(dataDir: string, port?: number): Promise<EmbeddedPostgres> {
  const log = createLogger({ role: 'chaos', level: 'silent' });
  const server = await startEmbeddedPostgres({
    dataDir,
    log,
    settings: SETTINGS,
    ...(port !== undefined && { port }),
  });
  tether({ pid: postgresPid(dataDir), ended: server.exited, signal: 'QUIT' });
  return server;
}
