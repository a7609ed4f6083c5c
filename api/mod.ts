/** The api role: the management API. */

import { fileURLToPath } from 'node:url';
import {
  BROWSER_SESSION_CHANGES_SUBJECT,
  ERASURES_SUBJECT,
  KEY_CHANGES_SUBJECT,
  PROMPT_CHANGES_SUBJECT,
} from '#core/contracts/channels.ts';
import { createCatalog } from '#core/models/mod.ts';
import { createSessionDirectory } from '#platform/browser-sessions/mod.ts';
import { createChangeAnnouncer } from '#platform/changes/mod.ts';
import type { Config } from '#platform/config/mod.ts';
import { createKeyDirectory } from '#platform/keys/mod.ts';
import { createLimiter, createLogLimit } from '#platform/limiter/mod.ts';
import { openLogPipeline } from '#platform/log-pipeline/forward/mod.ts';
import { createChangeWatcher } from '#platform/nats/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { createMetrics } from '#platform/observability/metrics.ts';
import { allowListOf, checkOutboundUrl } from '#platform/outbound/mod.ts';
import { checkSchema, checkSettings, createListener } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { settlesWithin } from '#platform/process/deadline.ts';
import { type Role, stopInOrder, stopTogether } from '#platform/process/lifecycle.ts';
import { createOutboxReader, reportProcess } from '#platform/processes/mod.ts';
import { createProxyChoice } from '#platform/proxy/mod.ts';
import { createSecretBox, readInternalSecret } from '#platform/secrets/mod.ts';
import { keepCertificate } from '#platform/tls/mod.ts';
import { createAlertService, measure, startAlerting } from './alerts/mod.ts';
import { createAnnouncer } from './announce.ts';
import { createApiApp } from './app.ts';
import { createAuditService } from './audit/mod.ts';
import { openConnections } from './connections.ts';
import { createDatasetService } from './datasets/mod.ts';
import { createDeadLetterService, type RetryDeadLetter } from './dead-letters/mod.ts';
import { createErasureService, startErasing } from './erasure/mod.ts';
import { createEvaluatorService, createJudgeModelCheck, createTrials } from './evaluators/mod.ts';
import { createExperimentService } from './experiments/mod.ts';
import { createGradeService } from './grades/mod.ts';
import { createKeyService } from './keys/mod.ts';
import { createLimitService } from './limits/mod.ts';
import { countDegraded, createRequestLog } from './log/mod.ts';
import { createLoginService } from './login/mod.ts';
import { createMetricsService } from './metrics/mod.ts';
import { createModelService } from './models/mod.ts';
import { createOrganizationService } from './organization/mod.ts';
import { readDashboard } from './pages/mod.ts';
import { createPlayground } from './playground/mod.ts';
import { createPromptService } from './prompts/mod.ts';
import { createPropertyService } from './properties/mod.ts';
import { createProviderKeyService } from './provider-keys/mod.ts';
import { watchQueries } from './query-slots.ts';
import { createRequestService } from './requests/mod.ts';
import { createReviewService } from './review/mod.ts';
import { createRowService } from './rows/mod.ts';
import { serveApi } from './serve.ts';
import { createSessionService } from './sessions/mod.ts';
import { createSystemService } from './system/mod.ts';
import { createUserService } from './users/mod.ts';
import { createViewService } from './views/mod.ts';
import { createWebhookService } from './webhooks/mod.ts';

export { runGate } from './downloads/mod.ts';

/** The built pages; scripts/dashboard/build.mjs makes them. */
const DASHBOARD = fileURLToPath(new URL('../dashboard/dist', import.meta.url));
/**
 * Time for the piece that background work has begun, at a stop. A piece is one transaction, or reads: one that is cut off is
 * begun anew by another process. Without a bound, one that a silent PostgreSQL holds up would last until the process is ended.
 */
const LAST_PIECE_MS = 1_000;

export type StartApiOptions = { config: Config; log: Logger; clock: Clock; retryDeadLetter: RetryDeadLetter };

/** Starts the API; `config.databaseUrl` must be set. */
export async function startApi({ config, log, clock, retryDeadLetter }: StartApiOptions): Promise<Role> {
  const connections = openConnections(config.databaseUrl!);
  const { keySql, claimSql, limitSql, erasureSql, letterSql, alertSql, sql, querySlots } = connections;
  await checkSchema(keySql);
  const metrics = createMetrics('api');
  watchQueries(metrics, querySlots);
  await checkSettings(sql);
  const listener = createListener({ sql: keySql, log });
  const watcher = createChangeWatcher({ address: config.nats, name: 'assay-api-watcher', log });
  const keys = createKeyDirectory({ sql: keySql, listener, watcher, clock, log, secrets: null });
  const browserSessions = createSessionDirectory({ sql: keySql, listener, watcher, clock, log });
  const logPath = await openLogPipeline({ config, sql: keySql, role: 'api', log, metrics, clock });
  const requests = createRequestService({ sql, clock });
  // This process admits no calls, so it takes no share of their limits.
  const limiter = createLimiter({
    sql: limitSql,
    clock,
    log,
    processId: null,
    onDegraded: countDegraded(metrics),
  });
  const allowed = allowListOf(config.outboundAllow);
  const trials = createTrials({ sql, listener, clock });
  const secrets = createSecretBox(config.secretKeys);
  const checkUrl = (url: string) => checkOutboundUrl(url, allowed);
  const evaluators = createEvaluatorService({
    sql,
    clock,
    trials,
    requests,
    secrets,
    checkUrl,
    checkJudgeModel: createJudgeModelCheck({ sql }),
  });
  const announceKeys = createAnnouncer(KEY_CHANGES_SUBJECT, { nats: config.nats, log });
  const announcePrompts = createAnnouncer(PROMPT_CHANGES_SUBJECT, { nats: config.nats, log });
  const announceErasure = createAnnouncer(ERASURES_SUBJECT, { nats: config.nats, log });
  const login = createLoginService({
    sql,
    ownerSql: keySql,
    keys,
    sessions: browserSessions,
    clock,
    publicUrl: config.publicUrl,
    ports: config.knownPorts,
    announce: createAnnouncer(BROWSER_SESSION_CHANGES_SUBJECT, { nats: config.nats, log }),
  });
  const announceChanges = createChangeAnnouncer(keySql);
  const erasing = startErasing({
    sql: erasureSql,
    log,
    announce: async () => {
      announceChanges();
      await announceErasure();
    },
  });
  const alerting = startAlerting({ sql: alertSql, log, clock, metrics, measure, onEvents: announceChanges });
  const playground = createPlayground({
    gateway: config.gateway,
    internalSecret: await readInternalSecret(keySql),
    clock,
    proxyFor: createProxyChoice(config.proxies),
  });
  const logRequest = createRequestLog({
    outbox: logPath.outbox,
    logs: createLogLimit(limiter),
    sql: claimSql,
    retentionDays: config.retentionDays,
    clock,
    log,
  });
  const app = createApiApp({
    keys: { find: keys.find, ofBrowser: login.authenticate },
    login,
    requests,
    review: createReviewService({ sql, clock }),
    rows: createRowService({ sql, clock }),
    erasure: createErasureService({
      sql,
      clock,
      requests,
      onStarted: erasing.wake,
      announce: announceErasure,
    }),
    sessions: createSessionService({ sql, clock }),
    evaluators,
    experiments: createExperimentService(
      { sql, clock, prices: createCatalog(config.models) },
      { logRequest },
    ),
    grades: createGradeService({ sql, clock }),
    limits: createLimitService(sql),
    metrics: createMetricsService({ sql }),
    providerKeys: createProviderKeyService({ sql, clock, secrets, announce: announceKeys }),
    apiKeys: createKeyService({ sql, clock, announce: announceKeys }),
    prompts: createPromptService({ sql, clock, announce: announcePrompts }),
    playground,
    models: createModelService({ sql, clock }),
    users: createUserService({ sql }),
    views: createViewService({ sql, clock }),
    webhooks: createWebhookService({ sql, clock, secrets, checkUrl }),
    properties: createPropertyService({ sql }),
    organization: createOrganizationService({ sql, clock }),
    alerts: createAlertService({ sql, clock, measure, onDue: alerting.wake }),
    datasets: createDatasetService({ sql, clock }),
    deadLetters: createDeadLetterService({ sql, ownerSql: letterSql, retryDeadLetter }),
    system: createSystemService({ sql }),
    audit: createAuditService(sql),
    logRequest,
    maxBodyBytes: config.maxBodyBytes,
    // Not by a connection for queries: all of them may have slow ones.
    health: { metrics, checks: { postgres: () => keySql`select 1` } },
    ports: config.knownPorts,
    log,
    dashboard: config.hasDashboard ? await readDashboard(DASHBOARD) : 'off',
  });
  const certificate = config.tls === null ? null : await keepCertificate(config.tls, log);
  const server = await serveApi({
    fetch: app.fetch,
    config,
    keySql,
    certificate,
    announceChanges,
    metrics,
    log,
  });
  const readOutbox = createOutboxReader(logPath, config.outbox.maxBytes);
  const report = await reportProcess({
    sql: keySql,
    log,
    role: 'api',
    facts: null,
    read: async () => ({ outbox: await readOutbox(), failing_outboxes: logPath.failingOutboxes() }),
  });
  log.info({ address: server.url }, 'api serves');
  return {
    name: 'api',
    address: server.url,
    stop: () => {
      const stopBy = clock.monotonic() + config.shutdownMs;
      return stopInOrder([
        // 1. No new calls; those under way finish, or are cut at the deadline.
        { what: 'closing the port', run: () => server.close(config.shutdownMs) },
        { what: 'letting go of the certificate', run: async () => certificate?.stop() },
        // 2. Every entry that was begun is committed and forwarded.
        { what: 'closing the outbox', run: () => logPath.close(stopBy) },
        // 3. Then the parts that calls needed.
        {
          what: 'letting go of the parts',
          run: () =>
            stopTogether([
              { what: 'withdrawing the report', run: () => report.stop() },
              {
                what: 'ending the page of a deletion',
                run: () => settlesWithin(erasing.stop(), LAST_PIECE_MS),
              },
              { what: 'ending the evaluation of alerts', run: () => alerting.stop() },
              { what: 'closing the connections to the gateway', run: () => playground.close() },
              {
                what: 'letting go of limits',
                run: () => limiter.stop(Math.max(0, stopBy - clock.monotonic())),
              },
              { what: 'letting go of trials', run: () => trials.stop() },
              { what: 'letting go of log-ins', run: () => browserSessions.stop() },
              { what: 'letting go of keys', run: () => keys.stop() },
            ]),
        },
        { what: 'disconnecting', run: () => stopTogether(connections.closing) },
      ]);
    },
  };
}
