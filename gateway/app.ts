/** The gateway's routes. */
import { Elysia } from 'elysia';
import { AssayError } from '#core/contracts/errors.ts';
import {
  type HealthOptions,
  healthRoutes,
  type KnownPorts,
  notFoundSentence,
} from '#platform/http-server/mod.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { ANTHROPIC_ERRORS, OPENAI_ERRORS } from './endpoints/error-format.ts';
import type { ModelLists } from './models/mod.ts';
import type { CallHandler } from './request/handle.ts';
import { errorReply, idHeaders } from './response/reply.ts';
import { callRoutes } from './routes/calls.ts';
import { documentRoute } from './routes/document.ts';
import { modelRoutes } from './routes/models.ts';
import { notServedSentence } from './routes/not-served.ts';

export type GatewayAppOptions = {
  handleCall: CallHandler;
  models: ModelLists;
  health: HealthOptions;
  ports: KnownPorts;
};

/** Makes the gateway's app; `app.fetch` goes to `serve`. */
export function createGatewayApp(options: GatewayAppOptions) {
  return new Elysia({ normalize: false, handler: { standardHostname: false } })
    .onError({ as: 'global' }, ({ code, error, request }) => {
      const path = new URL(request.url).pathname;
      const known =
        code === 'NOT_FOUND'
          ? new AssayError(
              'not_found',
              notServedSentence(request.method, path) ??
                notFoundSentence('gateway', { method: request.method, path }, options.ports),
            )
          : error;
      // Clients that send this read Anthropic's errors alone.
      const format = request.headers.has('anthropic-version') ? ANTHROPIC_ERRORS : OPENAI_ERRORS;
      return errorReply(known, idHeaders(newRequestId()), format);
    })
    .use(callRoutes(options.handleCall))
    .use(modelRoutes(options.models))
    .use(documentRoute())
    .use(healthRoutes(options.health))
    .compile();
}
