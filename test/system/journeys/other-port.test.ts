/** Each path asked of the port that does not serve it: the answer names the one that does. */
import t from 'tap';
import { SERVED_PATHS } from '#platform/http-server/other-port.ts';
import { startTestApi } from '../../support/api.ts';
import { isReady, runMain, startAssay, temporaryDataDir, waitFor } from '../../support/assay.ts';
import { freePort } from '../../support/free-port.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { databaseFor } from '../../support/world.ts';

const gateway = await startTestGateway(t, { API_PORT: '18585' });
const api = await startTestApi(t, { environment: { GATEWAY_PORT: '18787' } });

/** A path that a pattern stands for. */
function pathOf(pattern: string): string {
  return pattern.replace('*', 'openai/gpt-4o');
}

t.test(
  'a path of the API, asked of the gateway, is a 404 in the surface’s shape that names the API’s port',
  async (t) => {
    for (const path of SERVED_PATHS.api.map(pathOf)) {
      const message = `There is no POST ${path} here: ${path} is served by the management API, at port 18585`;
      for (const asked of [path, `${path}?limit=1`]) {
        const answer = await fetch(`${gateway.url}${asked}`, { method: 'POST', body: '{}' });
        t.equal(answer.status, 404);
        const error = { message, type: 'invalid_request_error', param: null, code: 'not_found' };
        t.same(await answer.json(), { error });
      }
      const headers = { 'anthropic-version': '2023-06-01' };
      const answer = await fetch(`${gateway.url}${path}`, { method: 'POST', headers });
      t.same(await answer.json(), { type: 'error', error: { type: 'not_found_error', message } });
    }
  },
);

t.test(
  'a path of the gateway, asked of the API, is a 404 in the API’s shape that names the gateway’s port',
  async (t) => {
    for (const path of SERVED_PATHS.gateway.map(pathOf)) {
      const { status, body } = await api.call(path, { body: {} });
      const error = `There is no POST ${path} here: ${path} is served by the gateway, at port 18787`;
      t.same([status, body], [404, { data: null, error }]);
    }
  },
);

t.test('a path of neither port is a 404 that names no other port', async (t) => {
  for (const path of ['/', '/v1', '/v1/request', '/v1/requests/query', '/v1/chat', '/v1/evaluators/a']) {
    const told = await (await fetch(`${gateway.url}${path}`)).json();
    t.equal((told as { error: { message: string } }).error.message, `There is no GET ${path} here`);
    t.equal((await api.call(path)).body.error, `There is no GET ${path} here`);
  }
});

t.test('a gateway run by itself names no port of the API that it does not know', async (t) => {
  const database = await databaseFor(t);
  const dataDir = temporaryDataDir();
  t.teardown(dataDir.remove);
  const port = String(await freePort());
  const run = runMain(['gateway'], {
    DATABASE_URL: database.url,
    DATA_DIR: dataDir.path,
    GATEWAY_PORT: port,
  });
  t.teardown(() => run.process.kill('SIGKILL'));
  const url = `http://127.0.0.1:${port}`;
  await waitFor('the gateway', () => isReady(url));
  const told = (await (await fetch(`${url}/v1/request/query`)).json()) as { error: { message: string } };
  t.match(told.error.message, /is served by the management API, on a port of its own$/);
});

t.test('gateway and API that run together know each other’s ports', async (t) => {
  const [gatewayPort, apiPort] = [String(await freePort()), String(await freePort())];
  const assay = await startAssay({ environment: { GATEWAY_PORT: gatewayPort, API_PORT: apiPort } });
  t.teardown(() => assay.stop());
  const atGateway = await (await fetch(`${assay.gatewayUrl}/v1/request/query`)).text();
  t.match(atGateway, `by the management API, at port ${apiPort}`);
  const atApi = await (await fetch(`${assay.apiUrl}/v1/chat/completions`)).text();
  t.match(atApi, `by the gateway, at port ${gatewayPort}`);
});
