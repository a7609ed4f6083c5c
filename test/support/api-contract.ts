/** What the management API's routes declare, to hold the responses of tests against. */

import type { TSchema } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import type { DocumentedRoute } from '#core/contracts/openapi.ts';
import { type ApiAppOptions, createApiApp } from '../../api/app.ts';
import { Failure } from '../../api/routes/declare.ts';

/** No handler runs here, so that no part of the role is needed. */
const PARTS = new Proxy({}, { get: () => ({}) });

/** The routes that the document describes, in its order. */
export const apiRoutes: readonly DocumentedRoute[] = createApiApp(PARTS as ApiAppOptions).routes.filter(
  ({ method, hooks }) => method !== 'ALL' && hooks.detail?.summary !== undefined,
);

const matchers = apiRoutes
  .map(({ method, path, hooks }) => ({
    method,
    // A path without parameters goes before one with them, as it does in the router.
    parameters: path.split(':').length - 1,
    pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}/?$`),
    checker: hooks.response === undefined ? null : TypeCompiler.Compile(hooks.response.shape as TSchema),
  }))
  .sort((one, other) => one.parameters - other.parameters);
const failure = TypeCompiler.Compile(Failure);

/**
 * Throws unless a response is as the route declares it. Responses of undocumented paths (health, metrics) and those
 * without JSON are passed over.
 */
export function checkContract(
  request: { method: string; path: string },
  response: { status: number; body: unknown },
): void {
  const path = request.path.replace(/\?.*$/s, '');
  if (response.body === null || /^\/(healthz|readyz|metrics|openapi\.json)/.test(path)) return;
  const route = matchers.find(({ method, pattern }) => method === request.method && pattern.test(path));
  const checker = response.status === 200 ? route?.checker : failure;
  if (checker === undefined || checker === null || checker.Check(response.body)) return;
  const first = checker.Errors(response.body).First();
  const found = JSON.stringify(first?.value)?.slice(0, 200);
  throw new Error(
    `${request.method} ${path}: ${first?.path} is not as declared: ${first?.message}: ${found}`,
  );
}
