/** The evaluators role: scores logged requests. */

import { describeError } from '#core/contracts/errors.ts';
import { createCatalog } from '#core/models/mod.ts';
import { createChangeAnnouncer } from '#platform/changes/mod.ts';
import type { Config } from '#platform/config/mod.ts';
import { answerHealth, serve } from '#platform/http-server/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { createMetrics } from '#platform/observability/metrics.ts';
import { checkSchema, connectPostgres, createListener } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { type Role, stopInOrder } from '#platform/process/lifecycle.ts';
import { reportProcess } from '#platform/processes/mod.ts';
import { createProxyChoice } from '#platform/proxy/mod.ts';
import {
  createSecretBox,
  INTERNAL_HEADER,
  readInternalSecret,
  signExperimentCall,
} from '#platform/secrets/mod.ts';
import { startExperiments } from './experiments/mod.ts';
import { createGatewayClient } from './gateway-client.ts';
import { evaluatorsMetrics, watchClaims } from './metrics.ts';
import { startSandbox } from './python/mod.ts';
import { followClock } from './set-back.ts';
import { createScorer, startWorker } from './worker/mod.ts';

const POSTGRES_CONNECTIONS = 8;
const STATEMENT_TIMEOUT_MS = 15_000;
/** Only the operator calls this role, for health and metrics. */
const LOOPBACK = '127.0.0.1';
/** Time beyond the gateway's own timeout for a provider, so that its response, which names the record, comes first. */
const GRACE_MS = 5_000;
const CONNECT_MS = 5_000;
/** The largest answer that is read of an experiment's call. A larger one is in the log as well, and counts. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Python evaluations claimed for each slot: the next is at hand when one ends, and several may be one batch. */
const PYTHON_HELD_PER_SLOT = 8;
/** Time to give back claimed evaluations and to end the pool. */
const STOP_MARGIN_MS = 1_000;

/**
 * Starts the evaluators role; `config.databaseUrl` must be set.
 * @throws Error with one sentence when the schema does not fit or the port is taken
 */
export async function startEvaluators(options: { config: Config; log: Logger; clock: Clock }): Promise<Role> {
  const { config, log, clock } = options;
  const { remoteConcurrency, pythonConcurrency, python } = config.evaluators;
  const sql = connectPostgres({
    url: config.databaseUrl!,
    max: POSTGRES_CONNECTIONS,
    applicationName: 'assay-evaluators',
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  await checkSchema(sql);
  const internalSecret = await readInternalSecret(sql);
  const sandbox = await startSandbox({
    directory: config.dataDir,
    ...(python !== null && { python }),
    concurrency: pythonConcurrency,
    log,
    clock,
  });
  const timeouts = {
    connectMs: CONNECT_MS,
    firstByteMs: config.providerTimeouts.firstByteMs + GRACE_MS,
    totalMs: config.providerTimeouts.firstByteMs + 2 * GRACE_MS,
  };
  const gateway = { gatewayUrl: config.gateway.url, gatewayCertFile: config.gateway.certFile };
  const scorer = createScorer({
    thread: {
      ...gateway,
      internalSecret,
      outboundAllow: config.outboundAllow,
      proxies: config.proxies,
      models: config.models,
      judgeTimeouts: timeouts,
    },
    sandbox,
    concurrency: remoteConcurrency,
    onDefect: (error, evaluationIds) =>
      log.error({ evaluationIds, error: describeError(error) }, 'an evaluation failed for a defect of Assay'),
  });
  const metrics = createMetrics('evaluators');
  const metricsOf = evaluatorsMetrics({ metrics, sql, sandboxTier: sandbox.tier });
  const announceChanges = createChangeAnnouncer(sql);
  const listener = createListener({ sql, log });
  const client = createGatewayClient({
    ...gateway,
    timeouts,
    clock,
    proxyFor: createProxyChoice(config.proxies),
    maxAnswerBytes: MAX_ANSWER_BYTES,
  });
  const experiments = startExperiments({
    sql,
    listener,
    log,
    clock,
    catalog: createCatalog(config.models),
    client,
    internalHeaders: (organizationId, experimentId) => ({
      [INTERNAL_HEADER]: signExperimentCall(internalSecret, { organizationId, experimentId }, clock.now()),
    }),
    capacity: remoteConcurrency,
  });
  const worker = startWorker({
    sql,
    listener,
    log,
    clock,
    scorer,
    sandbox,
    secrets: createSecretBox(config.secretKeys),
    capacity: {
      // Without a sandbox each Python evaluation would fail here, so they are left to other processes.
      python: sandbox.tier === 'none' ? 0 : PYTHON_HELD_PER_SLOT * pythonConcurrency,
      remote: remoteConcurrency,
    },
    onSettled: (_job, next) => {
      metricsOf.countSettled(next.state);
      announceChanges();
    },
  });
  const clockFollower = followClock({ sql, log });
  watchClaims(metrics, { evaluations: worker.held, experimentRuns: experiments.held });
  const fetch = answerHealth({
    metrics,
    checks: { postgres: () => sql`select 1` },
    facts: { sandbox: sandbox.tier },
  });
  const server = await serve({ fetch, host: LOOPBACK, port: config.evaluatorsPort });
  const report = await reportProcess({
    sql,
    log,
    role: 'evaluators',
    facts: { sandbox: sandbox.tier, why: sandbox.why },
    read: async () => {
      await metricsOf.readPaused();
      return { held: worker.held() };
    },
  });
  log.info({ address: server.url, sandbox: sandbox.tier, why: sandbox.why }, 'evaluators serve');
  return {
    name: 'evaluators',
    address: server.url,
    stop: () =>
      stopInOrder([
        { what: 'Withdrawing the report', run: () => report.stop() },
        // 1. Claims nothing new; evaluations under way come to their outcome or are given back.
        {
          what: 'Finishing evaluations',
          run: async () => {
            const deadlineMs = Math.max(0, config.shutdownMs - STOP_MARGIN_MS);
            await Promise.all([worker.stop(deadlineMs), experiments.stop(deadlineMs), clockFollower.stop()]);
          },
        },
        // 2. Then ends everything that evaluations needed.
        { what: 'Ending the pool', run: () => scorer.close() },
        { what: 'Closing connections to the gateway', run: () => client.close() },
        { what: 'Ending the sandbox', run: () => sandbox.stop() },
        { what: 'Closing the server', run: () => server.close(config.shutdownMs) },
        { what: 'Disconnecting', run: () => sql.end({ timeout: 1 }) },
      ]),
  };
}
