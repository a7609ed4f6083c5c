/** The gateway's document at `/openapi.json`: the golden file, and that it describes what is served. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { SERVED_PATHS } from '#platform/http-server/other-port.ts';
import { startTestGateway } from '../../../support/gateway.ts';

const GOLDEN = fileURLToPath(new URL('../../../../docs/api/gateway.openapi.json', import.meta.url));

const gateway = await startTestGateway(t);

t.test('the document of the gateway is the golden file docs/api/gateway.openapi.json', async (t) => {
  const response = await fetch(`${gateway.url}/openapi.json`);
  t.equal(response.status, 200, 'without a key');
  t.equal(response.headers.get('content-type'), 'application/json');
  t.match(response.headers.get('service-request-id'), /^[0-9A-Z]{26}$/);
  const served = `${JSON.stringify(await response.json(), null, 2)}\n`;
  if (process.argv.includes('--write')) writeFileSync(GOLDEN, served);
  t.equal(
    served,
    readFileSync(GOLDEN, 'utf8'),
    'else: node test/integration/gateway/routes/openapi.test.ts --write',
  );
});

t.test(
  'the document of the gateway describes every path that the gateway serves, and no other',
  async (t) => {
    const { paths } = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as { paths: object };
    const described = Object.keys(paths).map((path) => path.replace('{id}', '*'));
    t.same(described.sort(), [...SERVED_PATHS.gateway, '/openapi.json'].sort());
  },
);
