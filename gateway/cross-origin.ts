/** Calls from pages in browsers: the CORS protocol (https://fetch.spec.whatwg.org/#http-cors-protocol), for origins that the operator names. */
import { Reply, type ServerRequest } from '#platform/http-server/mod.ts';
import type { HeaderPairs } from './response/reply.ts';

type Fetch = (request: ServerRequest) => Response | Promise<Response>;

/** Seconds in which a browser does not ask again: Chromium's maximum, and what costs a page least. */
const PREFLIGHT_MAX_AGE = '7200';

/**
 * Lets pages of `origins` call `fetch`. Keys are in headers that a page has to know, so no browser is asked to send credentials
 * of its own, and `*` may stand for every header of a response.
 * @param origins as browsers write them; without any, `fetch` itself is returned
 */
export function allowOrigins(fetch: Fetch, origins: readonly string[]): Fetch {
  if (origins.length === 0) return fetch;
  const allowed = new Set(origins);
  return async (request) => {
    const origin = request.headers.get('origin');
    const isAllowed = origin !== null && allowed.has(origin);
    if (isAllowed && isPreflight(request)) return answerPreflight(request, origin);
    const response = await fetch(request);
    // Also for calls without an origin: a shared cache could give their response to a page.
    response.headers.append('vary', 'origin');
    if (isAllowed) {
      response.headers.set('access-control-allow-origin', origin);
      response.headers.set('access-control-expose-headers', '*');
    }
    return response;
  };
}

function isPreflight({ method, headers }: ServerRequest): boolean {
  return method === 'OPTIONS' && headers.has('access-control-request-method');
}

function answerPreflight({ headers: asked }: ServerRequest, origin: string): Response {
  const headers: HeaderPairs = [
    ['access-control-allow-origin', origin],
    ['access-control-allow-methods', 'GET, HEAD, POST'],
    ['access-control-max-age', PREFLIGHT_MAX_AGE],
    ['vary', 'origin, access-control-request-headers'],
  ];
  // Clients send headers of their own (`x-stainless-…`), and `*` would not stand for `Authorization`.
  const names = asked.get('access-control-request-headers');
  if (names !== null) headers.push(['access-control-allow-headers', names]);
  return new Reply(null, { status: 204, headers });
}
