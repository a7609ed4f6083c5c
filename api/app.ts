/** The management API: its groups of routes, their common parts, and the OpenAPI document. */
import { Elysia } from 'elysia';
import { AssayError, httpStatusOf } from '#core/contracts/errors.ts';
import { type DocumentedRoute, type OpenApiDocument, openApiDocument } from '#core/contracts/openapi.ts';
import {
  type HealthOptions,
  healthRoutes,
  type KnownPorts,
  notFoundSentence,
  Reply,
} from '#platform/http-server/mod.ts';
import { FailureLog } from '#platform/observability/failure-log.ts';
import type { Logger } from '#platform/observability/log.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { createMcp, type Dispatch } from './mcp/mod.ts';
import { type Dashboard, isPageRequest, pageReply } from './pages/mod.ts';
import { type AlertRoutesOptions, alertRoutes } from './routes/alerts.ts';
import { type DatasetRoutesOptions, datasetRoutes } from './routes/datasets.ts';
import { type DeadLetterRoutesOptions, deadLetterRoutes } from './routes/dead-letters.ts';
import { Failure } from './routes/declare.ts';
import { downloadRoutes } from './routes/downloads.ts';
import { type ErasureRoutesOptions, erasureRoutes } from './routes/erasure.ts';
import { evaluationRoutes } from './routes/evaluations.ts';
import { type EvaluatorRoutesOptions, evaluatorRoutes } from './routes/evaluators.ts';
import { type ExperimentRoutesOptions, experimentRoutes } from './routes/experiments.ts';
import { failureReply, MethodNotAllowedError, toAssayError } from './routes/failure.ts';
import { type GradeRoutesOptions, gradeRoutes } from './routes/grades.ts';
import { type KeyRoutesOptions, keyRoutes } from './routes/keys.ts';
import { type LimitRoutesOptions, limitRoutes } from './routes/limits.ts';
import { type LogRoutesOptions, logRoutes } from './routes/log.ts';
import { type LoginRoutesOptions, loginRoutes } from './routes/login.ts';
import { mcpRoutes } from './routes/mcp.ts';
import { type MetricsRoutesOptions, metricsRoutes } from './routes/metrics.ts';
import { type OrganizationRoutesOptions, organizationRoutes } from './routes/organization.ts';
import { pageRoutes } from './routes/pages.ts';
import { type PlaygroundRoutesOptions, playgroundRoutes } from './routes/playground.ts';
import { type PromptRoutesOptions, promptRoutes } from './routes/prompts.ts';
import { type PropertyRoutesOptions, propertyRoutes } from './routes/properties.ts';
import { type ProviderKeyRoutesOptions, providerKeyRoutes } from './routes/provider-keys.ts';
import { dataReply, JSON_HEADERS } from './routes/reply.ts';
import { type RequestRoutesOptions, requestRoutes } from './routes/requests.ts';
import { type ReviewQueueRoutesOptions, reviewQueueRoutes } from './routes/review-queues.ts';
import { type RowRoutesOptions, rowRoutes } from './routes/rows.ts';
import { type SessionRoutesOptions, sessionRoutes } from './routes/sessions.ts';
import { type SystemRoutesOptions, systemRoutes } from './routes/system.ts';
import { type UserRoutesOptions, userRoutes } from './routes/users.ts';
import { type ViewRoutesOptions, viewRoutes } from './routes/views.ts';
import { type WebhookRoutesOptions, webhookRoutes } from './routes/webhooks.ts';

export type ApiAppOptions = Omit<RequestRoutesOptions, 'onBroken'> &
  AlertRoutesOptions &
  Omit<DatasetRoutesOptions, 'onBroken'> &
  DeadLetterRoutesOptions &
  ErasureRoutesOptions &
  EvaluatorRoutesOptions &
  ExperimentRoutesOptions &
  GradeRoutesOptions &
  KeyRoutesOptions &
  LimitRoutesOptions &
  LoginRoutesOptions &
  LogRoutesOptions &
  MetricsRoutesOptions &
  OrganizationRoutesOptions &
  PlaygroundRoutesOptions &
  PromptRoutesOptions &
  PropertyRoutesOptions &
  ProviderKeyRoutesOptions &
  ReviewQueueRoutesOptions &
  RowRoutesOptions &
  SessionRoutesOptions &
  SystemRoutesOptions &
  UserRoutesOptions &
  ViewRoutesOptions &
  WebhookRoutesOptions & {
    health: HealthOptions;
    log: Logger;
    ports: KnownPorts;
    /** Null: it is not built; `off`: no pages are served. */
    dashboard: Dashboard | null | 'off';
  };

const REQUEST_ID = 'service-request-id';

/** Creates the API's app; `fetch` goes to `serve`. */
export function createApiApp(options: ApiAppOptions) {
  const { health, log, ports, dashboard } = options;
  const dispatch: Dispatch = async (request) => app.fetch(request);
  const app = new Elysia({ normalize: false, handler: { standardHostname: false } })
    .mapResponse({ as: 'global' }, ({ responseValue: value }) => {
      const response = value instanceof Response ? value : dataReply(JSON.stringify(value));
      if (!response.headers.has(REQUEST_ID)) response.headers.set(REQUEST_ID, newRequestId());
      return response;
    })
    .onError({ as: 'global' }, ({ code, error, request, set }) => {
      if (code === 'NOT_FOUND' && dashboard !== 'off' && isPageRequest(request)) {
        set.status = 200;
        return pageReply(dashboard, request);
      }
      const id = newRequestId();
      const failure = code === 'NOT_FOUND' ? notFound(request, ports) : toAssayError(error);
      if (httpStatusOf(failure) >= 500) {
        const { detail, cause } = failure;
        const fields = { requestId: id, code: failure.code, detail, err: cause };
        log.error(fields, 'A call of the management API failed');
      }
      const response = failureReply(failure);
      response.headers.set(REQUEST_ID, id);
      // Elysia has set the status by the error. When it is not 200, Elysia copies the response into a web Response, which
      // costs more and has no content-length.
      set.status = 200;
      return response;
    })
    .use(documentedRoutes(options, dispatch))
    .use(healthRoutes(health))
    .use(downloadRoutes())
    .use(dashboard === 'off' ? new Elysia() : pageRoutes(dashboard));
  return app.compile();
}

/** Statuses of calls whose keys may not make them: a key can be revoked in the middle of an export. */
const KEY_REFUSED: ReadonlySet<number> = new Set([401, 403]);

/** All routes and their document. Another method on one of their paths is a 405. */
function documentedRoutes(options: ApiAppOptions, dispatch: Dispatch) {
  const { keys, log } = options;
  const onBroken = (error: unknown) => {
    // The client ended it by disconnecting.
    if (error instanceof AssayError && error.code === 'client_closed_request') return;
    if (error instanceof AssayError && KEY_REFUSED.has(httpStatusOf(error))) {
      log.info({ reason: error.message }, 'An answer was cut short');
      return;
    }
    log.error({ err: error }, 'An answer was cut short');
  };
  const rooms = new Elysia({ name: 'api/rooms' })
    .use(requestRoutes({ ...options, onBroken }))
    .use(alertRoutes(options))
    .use(datasetRoutes({ keys, datasets: options.datasets, onBroken }))
    .use(deadLetterRoutes(options))
    .use(erasureRoutes(options))
    .use(evaluationRoutes(options))
    .use(evaluatorRoutes(options))
    .use(experimentRoutes(options))
    .use(gradeRoutes(options))
    .use(keyRoutes(options))
    .use(limitRoutes(options))
    .use(loginRoutes(options))
    .use(metricsRoutes(options))
    .use(organizationRoutes(options))
    .use(playgroundRoutes(options))
    .use(promptRoutes(options))
    .use(propertyRoutes(options))
    .use(providerKeyRoutes(options))
    .use(reviewQueueRoutes(options))
    .use(rowRoutes(options))
    .use(sessionRoutes(options))
    .use(systemRoutes(options))
    .use(userRoutes(options))
    .use(viewRoutes(options))
    .use(webhookRoutes(options))
    .use(logRoutes(options))
    .use(mcpRoutes({ keys, mcp: (...call) => mcp(...call) }));
  rooms.get('/openapi.json', () => documentReply(document().bytes), {
    detail: { tags: ['This document'], summary: 'Returns this document; needs no key' },
  });
  const documented = [...rooms.routes];
  // Made for the first who reads it: a start needs none.
  let made: { json: OpenApiDocument; bytes: Buffer } | null = null;
  const document = () => {
    made ??= documentOf(documented);
    return made;
  };
  const failures = new FailureLog(log);
  const onError = (error: Error) => {
    // By its name: a client could make ever new messages. The answer tells the client more.
    failures.note('warn', { error: error.name }, 'A message to the MCP server was refused or failed');
    log.debug({ err: error }, 'A message to the MCP server was refused or failed');
  };
  const mcp = createMcp({ document: () => document().json, dispatch, onError });
  const methods = Map.groupBy(rooms.routes, ({ path }) => path);
  for (const [path, routes] of methods) {
    const allowed = routes.map(({ method }) => method);
    rooms.all(path, ({ request }) => {
      throw new MethodNotAllowedError(request.method, allowed);
    });
  }
  return rooms;
}

function documentOf(routes: readonly DocumentedRoute[]) {
  const json = openApiDocument({
    title: 'Assay management API',
    description:
      'Finds and annotates logged requests, and grades them. A success is `{"data": …, "error": null}`.',
    version: '1',
    failure: Failure,
    routes,
  });
  return { json, bytes: Buffer.from(JSON.stringify(json)) };
}

/** The document is everybody's, also that of the page of the API reference, which has an origin of its own. */
function documentReply(bytes: Buffer): Response {
  return new Reply(bytes, { headers: { ...JSON_HEADERS, 'access-control-allow-origin': '*' } });
}

function notFound({ method, url }: Request, ports: KnownPorts): AssayError {
  return new AssayError('not_found', notFoundSentence('api', { method, path: new URL(url).pathname }, ports));
}
