/** The image, made by the Dockerfile's steps in a plain directory, and run from there as its user. */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { buildDashboard } from '../../../scripts/dashboard/build.mjs';
import { sentences, waitFor } from '../../support/assay.ts';
import { freePort } from '../../support/free-port.ts';
import { databaseFor, scriptedProvider } from '../../support/world.ts';
import { buildImage, PROJECT } from './container.ts';
import { oneOf, readDockerfile } from './dockerfile.ts';
import { sandboxIsMissing } from './sandbox.ts';

const image = buildImage();
t.teardown(() => image.remove());
t.comment(`The image holds: ${image.said.join('; ')}; Node itself is beside them`);

const readJson = (path: string) => JSON.parse(readFileSync(join(PROJECT, path), 'utf8'));

t.test('the image contains what runs, and nothing for development', async (t) => {
  const paths = readdirSync(image.root, { recursive: true, encoding: 'utf8' });
  t.same(
    paths.filter((path) => /^usr\/local\/bin\/./.test(path)),
    ['usr/local/bin/node'],
    'no npm',
  );
  t.same(readdirSync(join(image.root, 'opt/assay')).sort(), [
    'LICENSE',
    'api',
    'dashboard',
    'dist',
    'evaluators',
    'licenses',
    'node_modules',
    'package.json',
    'platform',
  ]);
  t.same(
    readdirSync(join(image.root, 'opt/assay/api/downloads')),
    ['assay-gate.mjs'],
    'what CI machines download',
  );
  t.same(readdirSync(join(image.root, 'opt/assay/dashboard')), ['dist'], 'the dashboard as it is built');
  t.same(
    readdirSync(join(image.root, 'opt/assay/node_modules')),
    ['piscina'],
    'all other packages are bundled',
  );
  for (const name of ['piscina', 'elysia', 'postgres', '@sinclair/typebox', 'preact'])
    t.ok(readdirSync(join(image.root, 'opt/assay/licenses', name)).length > 0, `the licence of ${name}`);
  t.same(
    paths.filter((path) => /\.ts$|\.map$|(^|\/)\.git|^opt\/assay\/test|__pycache__/.test(path)),
    [],
    'no sources, no tests, no maps, no history',
  );
  const python = readdirSync(join(PROJECT, 'evaluators/python')).filter((name) => name.endsWith('.py'));
  t.ok(python.length > 0);
  for (const name of python) t.ok(paths.includes(`opt/assay/evaluators/python/${name}`), name);
});

t.test('the dashboard in the image is the one that the tests look at', async (t) => {
  await buildDashboard();
  const manifestIn = (directory: string) =>
    readFileSync(join(directory, 'dashboard/dist/manifest.json'), 'utf8');
  t.equal(manifestIn(join(image.root, 'opt/assay')), manifestIn(PROJECT));
});

t.test("the image's Node is the one that the tests run on", async (t) => {
  const dockerfile = readFileSync(join(PROJECT, 'Dockerfile'), 'utf8');
  const { version } = readJson('node_modules/node/package.json');
  t.match(dockerfile, `ARG NODE_IMAGE=node:${version}-`);
  t.equal(`v${version}`, process.version);
});

t.test("the image's PostgreSQL driver is patched, as the tests' is", async (t) => {
  const dist = join(image.root, 'opt/assay/dist');
  const scripts = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.js'),
  );
  // A line that the patch adds.
  const isPatched = (path: string) =>
    readFileSync(join(dist, path), 'utf8').includes('initial && (query = null)');
  t.equal(scripts.filter(isPatched).length, 1);
});

t.test('the image runs as a user of its own, by number', async (t) => {
  const { final } = readDockerfile(join(PROJECT, 'Dockerfile'));
  t.match(oneOf(final, 'USER'), /^[1-9]\d{3,}:[1-9]\d{3,}$/);
});

t.test('the image without a database says in one sentence what it needs', async (t) => {
  for (const [parameters, sentence] of [
    [[], /^There is no embedded PostgreSQL .*: set DATABASE_URL to a PostgreSQL server of your own$/],
    [['gateway'], /^The gateway run by itself needs DATABASE_URL$/],
  ] as const) {
    const container = image.run([...parameters], { DATA_DIR: image.volume() });
    t.same(await container.ended, { code: 1, signal: null });
    t.match(sentences(container.stderr()), [sentence]);
  }
});

t.test('roles in containers of their own are healthy, log a call, and stop', async (t) => {
  const database = await databaseFor(t, { migrated: false });
  const provider = await scriptedProvider(t);
  const [gatewayPort, apiPort, ingestPort, evaluatorsPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const environment = {
    DATABASE_URL: database.url,
    DATA_DIR: image.volume(),
    GATEWAY_PORT: String(gatewayPort),
    API_PORT: String(apiPort),
    INGEST_PORT: String(ingestPort),
    EVALUATORS_PORT: String(evaluatorsPort),
    OPENAI_BASE_URL: provider.url,
    OPENAI_API_KEY: 'sk-test',
  };

  const migration = image.run(['migrate'], environment);
  t.same(await migration.ended, { code: 0, signal: null }, migration.stderr());
  const create = ['keys', 'create', '--organization', 'acme', '--scopes', 'gateway,read,write'];
  const creation = image.run(create, environment);
  t.same(await creation.ended, { code: 0, signal: null }, creation.stderr());
  const [key] = creation.stdout().split('\n');

  const ROLES = ['gateway', 'api', 'ingest', 'evaluators'];
  const containers = ROLES.map((role) => ({ role, container: image.run([role], environment) }));
  for (const { role, container } of containers) {
    await waitFor(`the ${role} to be healthy`, async () => (await container.check()).healthy, 60_000);
    t.same(await container.check(), { healthy: true, said: 'healthy' });
  }

  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const answer = await fetch(`http://127.0.0.1:${gatewayPort}/v1/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  t.equal(answer.status, 200);
  const requestId = answer.headers.get('service-request-id');
  const find = () =>
    fetch(`http://127.0.0.1:${apiPort}/v1/request/${requestId}`, { headers }).then(({ status }) => status);
  await waitFor('the call to be found through the API', async () => (await find()) === 200);

  const page = await fetch(`http://127.0.0.1:${apiPort}/requests`, { headers: { Accept: 'text/html' } });
  const [, script = ''] = /<script type="module" src="([^"]+)">/.exec(await page.text()) ?? [];
  const { status, headers: sent } = await fetch(`http://127.0.0.1:${apiPort}${script}`);
  t.same([page.status, status, sent.get('content-type')], [200, 200, 'text/javascript; charset=utf-8']);

  for (const { role, container } of containers) {
    t.same(await container.stop(), { code: 0, signal: null }, `the ${role} stops at SIGTERM`);
  }
});

t.test(
  'Python is evaluated in a container, behind the filter of its engine',
  { skip: await sandboxIsMissing() },
  async (t) => {
    const database = await databaseFor(t);
    const [evaluatorsPort, apiPort] = [await freePort(), await freePort()];
    const environment = {
      DATABASE_URL: database.url,
      API_PORT: String(apiPort),
      EVALUATORS_PORT: String(evaluatorsPort),
    };
    const create = ['keys', 'create', '--organization', 'acme', '--scopes', 'gateway,read,write'];
    const creation = image.run(create, { ...environment, DATA_DIR: image.volume() });
    t.same(await creation.ended, { code: 0, signal: null }, creation.stderr());
    const [key] = creation.stdout().split('\n');
    // As compose.yaml has it: the evaluators' directory is a tmpfs.
    for (const [role, DATA_DIR] of [
      ['evaluators', image.tmpfs()],
      ['api', image.volume()],
    ] as const) {
      const container = image.run([role], { ...environment, DATA_DIR });
      await waitFor(`the ${role} to be healthy`, async () => (await container.check()).healthy, 60_000);
      t.teardown(() => container.stop());
    }

    const readiness = await fetch(`http://127.0.0.1:${evaluatorsPort}/readyz`);
    const { sandbox } = (await readiness.json()) as { sandbox: string };
    if (image.isFiltered) t.equal(sandbox, 'process', 'the tier that needs nothing of an engine');
    else t.not(sandbox, 'none');
    const test = await fetch(`http://127.0.0.1:${apiPort}/v1/evaluator/python/test`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        code: 'import xml.etree.ElementTree\ndef evaluate(input, output):\n    print(input)\n    return len(output)',
        testInput: { inputBody: '"in"', outputBody: '"out"' },
      }),
    });
    t.match(await test.json(), { data: { output: 3, traces: 'in\n', error: null }, error: null });
  },
);

t.test('a role that does not answer its health check is unhealthy, with the reason', async (t) => {
  const database = await databaseFor(t);
  const environment = { DATABASE_URL: database.url, EVALUATORS_PORT: String(await freePort()) };
  const container = image.run(['evaluators'], environment);
  await waitFor('the evaluators to be healthy', async () => (await container.check()).healthy);
  // In the role's place, one that fails, and one that says nothing.
  const broken = createServer((request, response) => {
    if (request.url === '/healthz') response.writeHead(503).end();
  });
  const silent = createServer(() => {});
  for (const server of [broken, silent]) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close().closeAllConnections());
  }
  const closedPort = await freePort();
  for (const [port, reason] of [
    [(broken.address() as AddressInfo).port, 'it answers 503'],
    [(silent.address() as AddressInfo).port, 'The operation was aborted due to timeout'],
    [closedPort, `connect ECONNREFUSED 127.0.0.1:${closedPort}`],
  ] as const) {
    t.same(await container.check({ EVALUATORS_PORT: String(port) }), {
      healthy: false,
      said: `The health of evaluators: ${reason}`,
    });
  }
  await container.stop();
});
