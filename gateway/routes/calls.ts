import { Elysia } from 'elysia';
import { AssayError } from '#core/contracts/errors.ts';
import { serverRequestOf } from '#platform/http-server/mod.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { API_ENDPOINTS } from '../endpoints/endpoint.ts';
import type { CallHandler } from '../request/handle.ts';
import { errorReply, idHeaders } from '../response/reply.ts';

/** The routes of every API endpoint. `parse: 'none'`: the handler reads the body itself and passes its bytes on. */
export function callRoutes(handleCall: CallHandler) {
  const routes = new Elysia({ name: 'gateway/calls' });
  for (const endpoint of API_ENDPOINTS) {
    for (const address of endpoint.addresses) {
      routes.post(address, ({ request }) => handleCall(serverRequestOf(request), endpoint), {
        parse: 'none',
      });
      routes.all(
        address,
        ({ request }) => {
          const error = new AssayError(
            'method_not_allowed',
            `${request.method} is not allowed on ${address}; use POST`,
          );
          const reply = errorReply(error, idHeaders(newRequestId()), endpoint.errors);
          reply.headers.set('allow', 'POST');
          return reply;
        },
        { parse: 'none' },
      );
    }
  }
  return routes;
}
