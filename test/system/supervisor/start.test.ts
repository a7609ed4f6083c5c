import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  isAlive,
  isReady,
  type Runtime,
  sentences,
  startAssay,
  temporaryDataDir,
  waitFor,
} from '../../support/assay.ts';
import { testDatabase } from '../../support/postgres.ts';

const runtimes: Runtime[] = ['node', 'deno'];
const ROLES = ['gateway', 'api', 'ingest', 'evaluators'];

for (const runtime of runtimes) {
  t.test(`under ${runtime}, npm start runs everything and SIGTERM stops everything`, async (t) => {
    const dataDir = temporaryDataDir();
    t.teardown(dataDir.remove);
    const assay = await startAssay({ runtime, dataDir: dataDir.path });
    t.teardown(() => assay.stop());
    t.ok(await isReady(assay.gatewayUrl), 'the gateway is ready');
    t.ok(await isReady(assay.apiUrl), 'the API is ready');
    t.match(assay.key, /^sk-assay-[0-9A-Za-z]{43}$/, 'the first key is printed');
    const pids = ROLES.map((role) => assay.pidOf(role));
    t.same(await assay.stop(), { code: 0, signal: null }, 'it ends with 0');
    t.same(pids.filter(isAlive), [], 'no role is left');
    t.notOk(existsSync(join(dataDir.path, 'postgres', 'postmaster.pid')), 'PostgreSQL has stopped');
    t.same(sentences(assay.stderr()), [], 'there is nothing to complain about');

    const again = await startAssay({ runtime, dataDir: dataDir.path });
    t.teardown(() => again.stop());
    t.equal(again.key, null, 'the second start prints no key');
  });
}

t.test('a tracer that prints in every process is in nobody’s way, and its lines go to stderr', async (t) => {
  const directory = t.testdir({ 'tracer.cjs': `console.log('[tracer] on\\n{"tracer":true}')` });
  const environment = { NODE_OPTIONS: `--require=${join(directory, 'tracer.cjs')}` };
  const assay = await startAssay({ environment });
  t.teardown(() => assay.stop());
  t.ok(await isReady(assay.gatewayUrl));
  // Of every role, and of the threads that some have.
  for (const line of ['[tracer] on\n', '{"tracer":true}\n'])
    await waitFor('the lines', () => assay.stderr().split(line).length > ROLES.length);
});

t.test('what is in DATA_DIR is closed to other users', async (t) => {
  const assay = await startAssay();
  t.teardown(() => assay.stop());
  const isOpen = (name: string) => (statSync(join(assay.dataDir, name)).mode & 0o077) !== 0;
  t.same(readdirSync(assay.dataDir).filter(isOpen), []);
});

t.test('the code of the roles is kept compiled for the next start', async (t) => {
  const dataDir = temporaryDataDir();
  t.teardown(dataDir.remove);
  // Not where the tests keep theirs.
  const kept = await startAssay({ dataDir: dataDir.path, environment: { NODE_COMPILE_CACHE: '' } });
  t.same(await kept.stop(), { code: 0, signal: null });
  t.not(readdirSync(join(dataDir.path, 'compiled')).length, 0);
});

t.test('BOOTSTRAP_API_KEY is the first key', async (t) => {
  const key = 'an-operators-own-key-0123456789';
  const assay = await startAssay({ environment: { BOOTSTRAP_API_KEY: key } });
  t.teardown(() => assay.stop());
  t.equal(assay.key, key);
  const response = await fetch(`${assay.apiUrl}/v1/request/query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ filter: 'all' }),
  });
  t.equal(response.status, 200);
});

t.test('the curl that is printed works', async (t) => {
  const assay = await startAssay();
  t.teardown(() => assay.stop());
  const command = assay.stdout().slice(assay.stdout().indexOf('  curl '));
  const answer = execFileSync('sh', ['-c', command], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.same(JSON.parse(answer), { data: [], error: null });
});

t.test('with DATABASE_URL there is no embedded PostgreSQL', async (t) => {
  const database = await testDatabase({ migrated: false });
  t.teardown(() => database.close());
  const assay = await startAssay({ environment: { DATABASE_URL: database.url } });
  t.teardown(() => assay.stop());
  t.notOk(existsSync(join(assay.dataDir, 'postgres')));
  t.same(await database.sql`select name, tier from assay.organizations`, [
    { name: 'default', tier: 'enterprise' },
  ]);
});
