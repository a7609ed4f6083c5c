import t from 'tap';
import { SERVED_PATHS } from '#platform/http-server/other-port.ts';
import { type ApiAppOptions, createApiApp } from '../../../../api/app.ts';
import { createGatewayApp, type GatewayAppOptions } from '../../../../gateway/app.ts';

/** Both ports have these. */
const HEALTH = ['/healthz', '/readyz', '/metrics', '/openapi.json'];

/** No handler runs here, so that no part of a role is needed. */
const PARTS = new Proxy({}, { get: () => ({}) });

function pathsOf({ routes }: { routes: readonly { path: string }[] }): string[] {
  return [...new Set(routes.map(({ path }) => path))].filter((path) => !HEALTH.includes(path)).sort();
}

t.test('the paths that a 404 knows of the gateway are those that it serves', async (t) => {
  const app = createGatewayApp(PARTS as GatewayAppOptions);
  t.same([...SERVED_PATHS.gateway].sort(), pathsOf(app));
});

t.test('the paths that a 404 knows of the management API are those that it serves', async (t) => {
  const app = createApiApp(PARTS as ApiAppOptions);
  t.same([...SERVED_PATHS.api].sort(), pathsOf(app));
});
