/** The gateway role: takes calls, relays them to providers, and commits a record of each before its last bytes go out. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createCatalog } from '#core/models/mod.ts';
import type { Config } from '#platform/config/mod.ts';
import { createProviderClient } from '#platform/http-client/mod.ts';
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
import { checkSchema, connectPostgres, createListener } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { connectionBound, descriptorLimit } from '#platform/process/descriptors.ts';
import { type Role, stopInOrder } from '#platform/process/lifecycle.ts';
import { availableMemory, collectSeldom } from '#platform/process/memory.ts';
import { createOutboxReader, reportProcess } from '#platform/processes/mod.ts';
import { createPromptDirectory } from '#platform/prompts/mod.ts';
import { findStoredProviders } from '#platform/provider-keys/mod.ts';
import { createProxyChoice } from '#platform/proxy/mod.ts';
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
import { allowOrigins } from './cross-origin.ts';
import { OPENAI_ERRORS } from './endpoints/error-format.ts';
import { createCallLimits } from './limits/admission.ts';
import { createLoggingRate } from './limits/logging-rate.ts';
import { gatewayMetrics, watchLimiter } from './metrics.ts';
import { createLiveModels, operatorProviders, routableModels } from './models/mod.ts';
import { createPromptExpander } from './prompts/mod.ts';
import { gatewayFacts } from './providers/facts.ts';
import { createResolver } from './providers/resolve.ts';
import { createAuthenticator } from './request/authenticate.ts';
import { createCallHandler } from './request/handle.ts';
import { createRecorder, LateRecords } from './request/record.ts';
import { createRequestIdReservations } from './request/request-id.ts';
import { errorDetails } from './response/reply.ts';
import { createCacheLookUp, createProviderSources } from './response/sources.ts';
import {
  createAttemptLoop,
  createBreakerStates,
  createCircuitBreaker,
  createPlanner,
} from './routing/mod.ts';

/** Large bodies get this part of the memory: one that is translated and logged is there about three times. */
const BODIES_SHARE = 4;
/** Connections of each of three pools: keys and ids, limits, stored responses. None keeps another waiting. */
const POSTGRES_CONNECTIONS = 4;
const STATEMENT_TIMEOUT_MS = 5_000;
/** Time for large responses to be recorded; and for what Postgres still lacks: responses to store, settlements of costs. */
const LAST_WRITES_MS = 2_000;

/** Starts the gateway; `config.databaseUrl` must be set. */
export async function startGateway(options: { config: Config; log: Logger; clock: Clock }): Promise<Role> {
  const { config, log, clock } = options;
  collectSeldom();
  const connect = (applicationName: string) =>
    connectPostgres({
      url: config.databaseUrl!,
      max: POSTGRES_CONNECTIONS,
      applicationName,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    });
  const sql = connect('assay-gateway');
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
  const limitsSql = connect('assay-limits');
  // Connecting takes longer than the first calls after a start should wait.
  await Promise.all(Array.from({ length: POSTGRES_CONNECTIONS }, () => limitsSql`select 1`));
  const cacheSql = connect('assay-cache');
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
  const client = createProviderClient({
    timeouts: config.providerTimeouts,
    now: clock.monotonic,
    concurrencyPerOrganization: config.providerConcurrencyPerOrganization,
    proxyFor: createProxyChoice(config.proxies),
    onBusy: metricsOf.onProviderBusy,
  });
  const catalog = createCatalog(config.models);
  const resolve = createResolver(config.providers, catalog);
  const models = await createLiveModels({
    models: routableModels(catalog.chatModels(), resolve),
    operatorProviders: operatorProviders(config.providers),
    readStoredProviders: () => findStoredProviders(sql),
    log,
  });
  keys.onChange(models.refresh);
  const breakerStates = createBreakerStates();
  const attemptLoop = createAttemptLoop({
    breaker: createCircuitBreaker({
      clock,
      onChange: (address, state) => {
        metricsOf.onBreaker(address, state);
        breakerStates.note(address, state);
      },
    }),
    clock,
    random: Math.random,
    sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
  });
  const bodySlots = createBodySlots({
    bytes: config.bodiesMemoryBytes ?? Math.floor(availableMemory() / BODIES_SHARE / config.gateways),
    maxBodyBytes: config.maxBodyBytes,
  });
  watchBodies(metrics, bodySlots);
  const lateRecords = new LateRecords();
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
    plan: createPlanner({ resolve, groups: config.models?.groups ?? [], random: Math.random }),
    limits: createCallLimits(limiter, catalog),
    lookUpCache: createCacheLookUp(cache, clock),
    reserveRequestId: createRequestIdReservations({ sql, clock, log }),
    logging: createLoggingRate(limiter, metricsOf.onUnlogged),
    fromProviders: createProviderSources(client, attemptLoop, {
      maxHeldBytes: config.maxBodyBytes,
      now: clock.monotonic,
    }),
    recorder: metricsOf.counted(createRecorder(outbox, clock, log)),
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
      breakers: breakerStates.tripped(),
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
      const pools = [sql, limitsSql, cacheSql];
      return stopInOrder([
        // 1. No new calls; those under way finish, or are cut at the deadline.
        { what: 'closing the server', run: () => server.close(config.shutdownMs) },
        { what: 'letting go of the certificate', run: async () => certificate?.stop() },
        // 2. Every record that was begun is committed, and on its way.
        { what: 'recording the last large responses', run: () => lateRecords.settled(LAST_WRITES_MS) },
        { what: 'closing the outbox', run: () => logPath.close(stopBy) },
        { what: 'withdrawing the report', run: () => report.stop() },
        // 3. Then what they needed.
        { what: 'closing the connections to providers', run: async () => client.close() },
        { what: 'stopping the list of models', run: async () => models.stop() },
        {
          what: 'stopping the cache, the limiter, the keys and the prompts',
          run: async () => {
            const goodbyes = [cache.stop(LAST_WRITES_MS), limiter.stop(LAST_WRITES_MS)];
            await Promise.all([...goodbyes, keys.stop(), prompts.stop(), erasures.stop()]);
          },
        },
        {
          what: 'closing Postgres',
          run: async () => {
            await Promise.all(pools.map((pool) => pool.end({ timeout: 1 })));
          },
        },
      ]);
    },
  };
}
