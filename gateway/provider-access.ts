/** The gateway's way to providers: which serve a model, in which order they are tried, and the connections to them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createCatalog } from '#core/models/mod.ts';
import type { Config } from '#platform/config/mod.ts';
import { createProviderClient } from '#platform/http-client/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { findStoredProviders } from '#platform/provider-keys/mod.ts';
import { createProxyChoice } from '#platform/proxy/mod.ts';
import type { GatewayMetrics } from './metrics.ts';
import { createFindNamed, createLiveModels, operatorProviders, routableModels } from './models/mod.ts';
import { createResolver } from './providers/resolve.ts';
import { createProviderSources } from './response/provider-sources.ts';
import {
  createAttemptLoop,
  createBreakerStates,
  createCircuitBreaker,
  createPlanner,
} from './routing/mod.ts';

type ProviderAccessOptions = {
  config: Config;
  sql: Sql;
  clock: Clock;
  log: Logger;
  metrics: Pick<GatewayMetrics, 'onProviderBusy' | 'onBreaker'>;
};

export async function createProviderAccess({ config, sql, clock, log, metrics }: ProviderAccessOptions) {
  const client = createProviderClient({
    timeouts: config.providerTimeouts,
    now: clock.monotonic,
    concurrencyPerOrganization: config.providerConcurrencyPerOrganization,
    proxyFor: createProxyChoice(config.proxies),
    onBusy: metrics.onProviderBusy,
  });
  const catalog = createCatalog(config.models);
  const resolve = createResolver(config.providers, catalog);
  const planner = { groups: config.models?.groups ?? [], random: Math.random };
  const planToDescribe = createPlanner({ ...planner, resolve: createResolver(config.providers, catalog) });
  const models = await createLiveModels({
    models: routableModels(catalog.chatModels(), resolve),
    findNamed: createFindNamed(planToDescribe, catalog),
    operatorProviders: operatorProviders(config.providers),
    readStoredProviders: () => findStoredProviders(sql),
    log,
  });
  const breakerStates = createBreakerStates();
  const attemptLoop = createAttemptLoop({
    breaker: createCircuitBreaker({
      clock,
      onChange: (address, state) => {
        metrics.onBreaker(address, state);
        breakerStates.note(address, state);
      },
    }),
    clock,
    random: Math.random,
    sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
  });
  return {
    /** Prices of all models. */
    catalog,
    /** The models that can be called now. */
    models,
    plan: createPlanner({ ...planner, resolve }),
    fromProviders: createProviderSources(client, attemptLoop, {
      maxHeldBytes: config.maxBodyBytes,
      now: clock.monotonic,
    }),
    /** The addresses whose circuits are not closed. */
    trippedBreakers: breakerStates.tripped,
    closeConnections: client.close,
  };
}
