/** The gateway role: takes calls, relays them to providers, and commits a record of each before its last bytes go out. */
import type { Config } from '#platform/config/mod.ts';
import {
  createBodySlots,
  serve,
  warningBound,
  watchBodies,
  watchConnections,
} from '#platform/http-server/mod.ts';
import { createKeyDirectory } from '#platform/keys/mod.ts';
import { createLimiter } from '#platform/limiter/mod.ts';
import { openLogPipeline } from '#platform/log-pipeline/forward/mod.ts';
import { createChangeWatcher } from '#platform/nats/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { createMetrics } from '#platform/observability/metrics.ts';
import { checkSchema, createListener } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { connectionBound, descriptorLimit } from '#platform/process/descriptors.ts';
import { type Role, STOP_GRACE_MS, stopInOrder, stopTogether } from '#platform/process/lifecycle.ts';
import { availableMemory, collectSeldom, dropBuffersYoung } from '#platform/process/memory.ts';
import { createOutboxReader, reportProcess } from '#platform/processes/mod.ts';
import { createPromptDirectory } from '#platform/prompts/mod.ts';
import {
  createSecretBox,
  readExperimentCall,
  readInternalCall,
  readInternalSecret,
  readKeyCall,
} from '#platform/secrets/mod.ts';
import { keepCertificate } from '#platform/tls/mod.ts';
import { createGatewayApp } from './app.ts';
import { createResponseCache, watchErasures } from './cache/mod.ts';
import { openConnections } from './connections.ts';
import { allowOrigins } from './cross-origin.ts';
import { OPENAI_ERRORS } from './endpoints/error-format.ts';
import { createCallLimits } from './limits/admission.ts';
import { createLoggingRate } from './limits/logging-rate.ts';
import { gatewayMetrics, watchLimiter } from './metrics.ts';
import { createPromptExpander } from './prompts/mod.ts';
import { createProviderAccess } from './provider-access.ts';
import { gatewayFacts } from './providers/facts.ts';
import { createAuthenticator } from './request/authenticate.ts';
import { droppingBodies } from './request/drop-bodies.ts';
import { createCallHandler } from './request/handle.ts';
import { createRecorder, LateRecords } from './request/record.ts';
import { createRequestIdReservations } from './request/request-id.ts';
import { createCacheLookUp } from './response/cache-look-up.ts';
import { errorDetails } from './response/reply.ts';

/** Large bodies get this part of the memory: one that is translated and logged is there about three times. */
const BODIES_SHARE = 4;
/** Time for large responses to be recorded; and for what Postgres still lacks: responses to store, settlements of costs. */
const LAST_WRITES_MS = 2_000;
/** The same where a client has kept the port open until the deadline, and Postgres or NATS do not answer. */
const LEAST_LAST_WRITES_MS = 500;
/** Time for the steps behind the last large responses, and behind forwarding: 1 s for that at most, 1 s for the pools, and some. */
const AFTER_RESPONSES_MS = 3_300;
const AFTER_FORWARDING_MS = 1_800;

/** Starts the gateway; `config.databaseUrl` must be set. */
export async function startGateway(options: { config: Config; log: Logger; clock: Clock }): Promise<Role> {
  const { config, log, clock } = options;
  collectSeldom();
  const connections = openConnections(config.databaseUrl!);
  const { sql, limitsSql, cacheSql } = connections;
  await checkSchema(sql);
  const internalSecret = await readInternalSecret(sql);
  const changes = {
    listener: createListener({ sql, log }),
    watcher: createChangeWatcher({ address: config.nats, name: 'assay-gateway-watcher', log }),
  };
  const keys = createKeyDirectory({
    sql,
    ...changes,
    clock,
    log,
    secrets: createSecretBox(config.secretKeys),
  });
  const prompts = createPromptDirectory({ sql, ...changes, clock, log });
  const metrics = createMetrics('gateway');
  const logPath = await openLogPipeline({ config, sql, role: 'gateway', log, metrics, clock });
  const { outbox } = logPath;
  await connections.connectLimits();
  const cache = createResponseCache({
    sql: cacheSql,
    clock,
    log,
    random: Math.random,
    maxMemoryBytes: config.cacheMemoryBytes,
  });
  const erasures = watchErasures({ cache, ...changes });
  const metricsOf = gatewayMetrics(metrics, cache);
  const limiter = createLimiter({
    sql: limitsSql,
    clock,
    log,
    gateways: config.gateways,
    onDegraded: metricsOf.onDegraded,
  });
  watchLimiter(metrics, limiter);
  const providers = await createProviderAccess({ config, sql, clock, log, metrics: metricsOf });
  const { catalog, models } = providers;
  keys.onChange(models.refresh);
  const bodySlots = createBodySlots({
    bytes: config.bodiesMemoryBytes ?? Math.floor(availableMemory() / BODIES_SHARE / config.gateways),
    maxBodyBytes: config.maxBodyBytes,
  });
  watchBodies(metrics, bodySlots);
  const lateRecords = new LateRecords();
  const recorder = createRecorder(outbox, clock, log);
  const handleCall = createCallHandler({
    clock,
    log,
    maxBodyBytes: config.maxBodyBytes,
    retentionDays: config.retentionDays,
    bodySlots,
    authenticate: createAuthenticator(keys, {
      evaluationOf: (header) => readInternalCall(internalSecret, header, clock.now()),
      experimentOf: (header) => readExperimentCall(internalSecret, header, clock.now()),
      keyOf: (header) => readKeyCall(internalSecret, header, clock.now()),
    }),
    expandPrompt: createPromptExpander({ prompts, maxBodyBytes: config.maxBodyBytes }),
    plan: providers.plan,
    limits: createCallLimits(limiter, catalog),
    lookUpCache: createCacheLookUp(cache, clock),
    reserveRequestId: createRequestIdReservations({ sql, clock, log }),
    logging: createLoggingRate(limiter, metricsOf.onUnlogged),
    fromProviders: providers.fromProviders,
    recorder: metricsOf.counted(
      droppingBodies(
        recorder,
        dropBuffersYoung(() => clock.monotonic()),
      ),
    ),
    lateRecords,
  });
  const app = createGatewayApp({
    handleCall,
    models: models.answers,
    health: { metrics, checks: { postgres: () => sql`select 1` } },
    ports: config.knownPorts,
  });
  const certificate = config.tls === null ? null : await keepCertificate(config.tls, log);
  const server = await serve({
    fetch: allowOrigins(app.fetch, config.allowedOrigins),
    formatError: (error) => JSON.stringify(OPENAI_ERRORS.body(errorDetails(error))),
    host: config.host,
    port: config.gatewayPort,
    sharePort: config.sharePort,
    socketFds: config.gatewaySocketFds,
    drainDelayMs: config.drainDelayMs,
    certificate,
    bound: warningBound(connectionBound(descriptorLimit(), true), log),
  });
  watchConnections(metrics, server.connections);
  const readOutbox = createOutboxReader(logPath, config.outbox.maxBytes);
  const report = await reportProcess({
    sql,
    log,
    role: 'gateway',
    facts: gatewayFacts(config),
    read: async () => ({
      outbox: await readOutbox(),
      breakers: providers.trippedBreakers(),
      is_limiting_alone: limiter.isDegraded(),
      failing_outboxes: logPath.failingOutboxes(),
    }),
  });
  log.info({ address: server.url }, 'gateway serves');
  return {
    name: 'gateway',
    address: server.url,
    stop: () => {
      const stopBy = clock.monotonic() + config.shutdownMs;
      /** Time for last writes, if the rest takes `restMs`. */
      const writesMs = (restMs: number) => {
        const leftMs = stopBy + STOP_GRACE_MS - restMs - clock.monotonic();
        return Math.min(LAST_WRITES_MS, Math.max(LEAST_LAST_WRITES_MS, leftMs));
      };
      return stopInOrder([
        // 1. No new calls; those under way finish, or are cut at the deadline.
        { what: 'closing the server', run: () => server.close(config.shutdownMs) },
        { what: 'letting go of the certificate', run: async () => certificate?.stop() },
        // 2. Every record that was begun is committed, and on its way.
        {
          what: 'recording the last large responses',
          run: () => lateRecords.settled(writesMs(AFTER_RESPONSES_MS)),
        },
        { what: 'closing the outbox', run: () => logPath.close(stopBy) },
        // 3. Then what they needed.
        { what: 'closing the connections to providers', run: async () => providers.closeConnections() },
        { what: 'stopping the list of models', run: async () => models.stop() },
        {
          what: 'letting go of the parts',
          run: () =>
            stopTogether([
              { what: 'withdrawing the report', run: () => report.stop() },
              { what: 'stopping the cache', run: () => cache.stop(writesMs(AFTER_FORWARDING_MS)) },
              { what: 'stopping the limiter', run: () => limiter.stop(writesMs(AFTER_FORWARDING_MS)) },
              { what: 'stopping the keys', run: () => keys.stop() },
              { what: 'stopping the prompts', run: () => prompts.stop() },
              { what: 'stopping the erasures', run: () => erasures.stop() },
            ]),
        },
        connections.closing,
      ]);
    },
  };
}
