/** What every group of routes is made of. */
import { Elysia } from 'elysia';
import { AssayError } from '#core/contracts/errors.ts';
import type { ApiKey, KeyDirectory, Scope } from '#platform/keys/mod.ts';
import { authorize } from './authorize.ts';

export type Call = { request: Request; params: Record<string, string> };
export type Handler = (call: Call) => Promise<Response>;
export type Route = { method: 'GET' | 'POST' | 'PUT' | 'DELETE'; path: string; handle: Handler };

/** A handler for callers whose key has `scope`; anybody else is refused before the body is read. */
export function guarded(
  keys: Pick<KeyDirectory, 'find'>,
  scope: Scope,
  handle: (key: ApiKey, call: Call) => Promise<Response>,
): Handler {
  return async (call) => handle(await authorize(call.request, keys, scope), call);
}

/** Makes routes an app. Another method on one of their paths is a 405. */
export function routesApp(name: string, routes: readonly Route[]) {
  const app = new Elysia({ name });
  const methods = new Map<string, string[]>();
  for (const { method, path, handle } of routes) {
    // Elysia leaves params out where the path has none.
    app.route(method, path, ({ request, params }) => handle({ request, params: params ?? {} }), {
      parse: 'none',
    });
    methods.set(path, [...(methods.get(path) ?? []), method]);
  }
  for (const [path, allowed] of methods) {
    app.all(path, ({ request }) => refuseMethod(request, allowed), { parse: 'none' });
  }
  return app;
}

/** The methods that a 405 names in its Allow header. */
export class MethodNotAllowedError extends AssayError {
  readonly allow: string;

  constructor(method: string, allowed: readonly string[]) {
    super('method_not_allowed', `${method} is not allowed here; use ${allowed.join(' or ')}`);
    this.allow = allowed.join(', ');
  }
}

function refuseMethod(request: Request, allowed: readonly string[]): never {
  throw new MethodNotAllowedError(request.method, allowed);
}
