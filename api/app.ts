/** The management API's routes. */
import { Elysia } from 'elysia';
import { AssayError } from '#core/contracts/errors.ts';
import {
  type HealthOptions,
  healthRoutes,
  type KnownPorts,
  notFoundSentence,
} from '#platform/http-server/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { LoggingRateError } from './log/mod.ts';
import { type EvaluatorRoutesOptions, evaluatorRoutes } from './routes/evaluators.ts';
import { failureReply, toAssayError } from './routes/failure.ts';
import { type LimitRoutesOptions, limitRoutes } from './routes/limits.ts';
import { type LogRoutesOptions, logRoutes } from './routes/log.ts';
import { type ProviderKeyRoutesOptions, providerKeyRoutes } from './routes/provider-keys.ts';
import { type RequestRoutesOptions, requestRoutes } from './routes/requests.ts';
import { MethodNotAllowedError } from './routes/route.ts';

export type ApiAppOptions = Omit<RequestRoutesOptions, 'onBroken'> &
  LogRoutesOptions &
  EvaluatorRoutesOptions &
  LimitRoutesOptions &
  ProviderKeyRoutesOptions & { health: HealthOptions; log: Logger; ports: KnownPorts };

/** Makes what answers at the API's paths; its failures are thrown. */
export function apiRoutes(options: ApiAppOptions) {
  const { keys, requests, evaluators, limits, providerKeys, logRequest, maxBodyBytes, health, log } = options;
  const onBroken = (error: unknown) => log.error({ err: error }, 'An answer was cut short');

  return new Elysia({ normalize: false, handler: { standardHostname: false } })
    .onError({ as: 'global' }, ({ code, error, request }) => {
      if (code !== 'NOT_FOUND') throw error;
      const { method, url } = request;
      const asked = { method, path: new URL(url).pathname };
      return failureReply(new AssayError('not_found', notFoundSentence('api', asked, options.ports)));
    })
    .use(requestRoutes({ keys, requests, onBroken }))
    .use(evaluatorRoutes({ keys, evaluators }))
    .use(limitRoutes({ keys, limits }))
    .use(providerKeyRoutes({ keys, providerKeys }))
    .use(logRoutes({ keys, logRequest, maxBodyBytes }))
    .use(healthRoutes(health))
    .compile();
}

/** Makes the API's app; `fetch` goes to `serve`. Every answer carries its own `Service-Request-Id`. */
export function createApiApp(options: ApiAppOptions): { fetch(request: Request): Promise<Response> } {
  const app = apiRoutes(options);
  return {
    async fetch(request) {
      const requestId = newRequestId();
      let reply: Response;
      try {
        reply = await app.fetch(request);
      } catch (error) {
        reply = explain(error, requestId, options.log);
      }
      reply.headers.set('service-request-id', requestId);
      return reply;
    },
  };
}

function explain(error: unknown, requestId: string, log: Logger): Response {
  const known = toAssayError(error);
  if (known.status >= 500) {
    const fields = { requestId, code: known.code, detail: known.detail, err: known.cause };
    log.error(fields, 'A call of the management API failed');
  }
  const reply = failureReply(known);
  if (known instanceof MethodNotAllowedError) reply.headers.set('allow', known.allow);
  if (known instanceof LoggingRateError) reply.headers.set('retry-after', String(known.retryAfterS));
  return reply;
}
