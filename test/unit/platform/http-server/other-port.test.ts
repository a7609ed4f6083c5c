import t from 'tap';
import { notFoundSentence, SERVED_PATHS } from '#platform/http-server/other-port.ts';
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

t.test(
  'a 404 of the gateway names the port of the management API for each path of that, and for no other',
  async (t) => {
    const ports = { gateway: 1, api: 2 };
    const sentenceFor = (path: string) => notFoundSentence('gateway', { method: 'GET', path }, ports);
    const paths = pathsOf(createApiApp(PARTS as ApiAppOptions));
    for (const path of paths) t.match(sentenceFor(path), 'at port 2', path);
    for (const pattern of SERVED_PATHS.api) {
      const beginning = pattern.replace(/\*$/, '');
      t.ok(
        paths.some((path) => path.startsWith(beginning)),
        `${pattern} is served`,
      );
    }
    for (const path of ['/', '/v1', '/v1/request', '/v1/evaluators', '/v1/sessionsquery', '/v2/keys'])
      t.notMatch(sentenceFor(path), 'port', path);
  },
);

t.test('a 404 of a path with tens of thousands of segments costs little', (t) => {
  const ports = { gateway: 1, api: 2 };
  const path = '/'.repeat(60_000);
  const beganMs = performance.now();
  for (let call = 0; call < 100; call += 1) notFoundSentence('gateway', { method: 'GET', path }, ports);
  const eachMs = (performance.now() - beganMs) / 100;
  t.ok(eachMs < 5, `${eachMs} ms`);
  t.end();
});
