import { Elysia } from 'elysia';
import { AssayError } from '#core/contracts/errors.ts';
import { serverRequestOf } from '#platform/http-server/mod.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { API_ENDPOINTS } from '../endpoints/endpoint.ts';
import type { CallHandler } from '../request/handle.ts';
import { errorReply, type HeaderPairs, idHeaders } from '../response/reply.ts';

/** The routes of every API endpoint. `parse: 'none'`: the handler reads the body itself and passes its bytes on. */
export function callRoutes(handleCall: CallHandler) {
  const routes = new Elysia({ name: 'gateway/calls' });
  for (const endpoint of API_ENDPOINTS) {
    for (const address of endpoint.addresses) {
      routes.post(address, ({ request }) => handleCall(serverRequestOf(request), endpoint), {
        parse: 'none',
      });
      routes.all(address, ({ request }) => errorReply(...refusal(request, address), endpoint.errors), {
        parse: 'none',
      });
    }
  }
  return routes;
}

/** Returns why another method than POST is refused, and the headers that say so. */
function refusal(request: Request, address: string): [AssayError, HeaderPairs] {
  const headers = idHeaders(newRequestId());
  // Codex tries WebSocket first. This status alone makes it go on with HTTP: after any other one it tries for seven seconds.
  if (request.method === 'GET' && request.headers.get('upgrade')?.toLowerCase() === 'websocket') {
    const error = new AssayError(
      'websocket_not_supported',
      `WebSocket is not served on ${address}; use POST`,
    );
    return [error, [...headers, ['upgrade', 'HTTP/1.1']]];
  }
  const sentence = `${request.method} is not allowed on ${address}; use POST`;
  return [new AssayError('method_not_allowed', sentence), [...headers, ['allow', 'POST']]];
}
