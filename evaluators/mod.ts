/** The evaluators role: scores what was logged. So far it serves its health only. */
import type { Clock } from '#core/clock.ts';
import type { Config } from '#core/config/mod.ts';
import { healthApp, serve } from '#core/http/mod.ts';
import { type Role, stopInOrder } from '#core/lifecycle.ts';
import type { Logger } from '#core/log.ts';
import { createMetrics } from '#core/metrics.ts';
import { checkSchema, connectPostgres } from '#core/postgres/mod.ts';

const POSTGRES_CONNECTIONS = 2;
const STATEMENT_TIMEOUT_MS = 5_000;
/** Nobody but the operator calls this role. */
const LOOPBACK = '127.0.0.1';

/**
 * Starts the evaluators; `config.databaseUrl` must be set.
 * @throws Error with one sentence when the schema does not fit or the port is taken
 */
export async function startEvaluators(options: { config: Config; log: Logger; clock: Clock }): Promise<Role> {
  const { config, log } = options;
  const sql = connectPostgres({
    url: config.databaseUrl!,
    max: POSTGRES_CONNECTIONS,
    applicationName: 'assay-evaluators',
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  await checkSchema(sql);
  const app = healthApp({
    metrics: createMetrics('evaluators'),
    checks: { postgres: () => sql`select 1` },
  });
  const server = await serve({ fetch: app.fetch, host: LOOPBACK, port: config.evaluatorsPort });
  log.info({ address: server.url }, 'evaluators serve');
  return {
    name: 'evaluators',
    address: server.url,
    stop: () =>
      stopInOrder([
        { what: 'Closing the server', run: () => server.close(config.shutdownMs) },
        { what: 'Disconnecting', run: () => sql.end({ timeout: 1 }) },
      ]),
  };
}
