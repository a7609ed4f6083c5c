import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '#platform/observability/log.ts';
import { createRestartBackoff } from './backoff.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './postgres/server.ts';

/** A PostgreSQL server that is restarted at the same address when it dies. */
export type KeptPostgres = {
  url: string;
  stop(): Promise<void>;
  /** Kills it at once; the next start recovers committed data. */
  kill(): void;
};

/**
 * Starts the embedded PostgreSQL of a data directory and keeps it running.
 * @throws Error with a sentence when it does not start the first time
 */
export async function keepPostgres(options: { dataDir: string; log: Logger }): Promise<KeptPostgres> {
  const { log } = options;
  const stopping = new AbortController();
  let server: EmbeddedPostgres | null = await startEmbeddedPostgres(options);
  const { url, port } = server;

  async function keepRunning(): Promise<void> {
    const backoff = createRestartBackoff();
    let bornAt = performance.now();
    while (true) {
      await server?.exited;
      if (stopping.signal.aborted) return;
      const waitMs = backoff.next(performance.now() - bornAt);
      log.error({ waitMs }, 'The embedded PostgreSQL died; restarting it');
      await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      bornAt = performance.now();
      server = await startEmbeddedPostgres({ ...options, port }).catch((error: unknown) => {
        log.error({ reason: describeError(error) }, 'The embedded PostgreSQL did not start');
        return null;
      });
    }
  }
  const running = keepRunning();

  return {
    url,
    async stop() {
      stopping.abort();
      await server?.stop();
      await running;
      // A restart may have been under way when the stop was requested.
      await server?.stop();
    },
    kill() {
      stopping.abort();
      server?.kill();
    },
  };
}
