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
import { databaseFor } from '../../support/world.ts';

const runtimes: Runtime[] = ['node', 'deno'];
const ROLES = ['gateway', 'api', 'ingest', 'evaluators'];

for (const runtime of runtimes) {
  t.test(`under ${runtime}, npm start runs everything and SIGTERM stops everything`, async (t) => {
    const dataDir = temporaryDataDir();
    t.teardown(dataDir.remove);
    // Without the tests' own cache of compiled code.
    const environment = { NODE_COMPILE_CACHE: '' };
    const assay = await startAssay({ runtime, dataDir: dataDir.path, environment });
    t.teardown(() => assay.stop());
    t.ok(await isReady(assay.gatewayUrl), 'the gateway is ready');
    t.ok(await isReady(assay.apiUrl), 'the API is ready');
    t.match(assay.key, /^sk-assay-[0-9A-Za-z]{43}$/, 'the first key is printed');

    await t.test(`under ${runtime}, everything in DATA_DIR is closed to other users`, async (t) => {
      const isOpen = (name: string) => (statSync(join(assay.dataDir, name)).mode & 0o077) !== 0;
      t.same(readdirSync(assay.dataDir).filter(isOpen), []);
    });
    await t.test(`under ${runtime}, the curl command that the start prints works`, async (t) => {
      const command = assay.stdout().slice(assay.stdout().indexOf('  curl '));
      const answer = execFileSync('sh', ['-c', command], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      t.same(JSON.parse(answer), { data: [], error: null });
    });

    const pids = ROLES.map((role) => assay.pidOf(role));
    t.same(await assay.stop(), { code: 0, signal: null }, 'it ends with 0');
    t.same(pids.filter(isAlive), [], 'no role is left');
    t.notOk(existsSync(join(dataDir.path, 'postgres', 'postmaster.pid')), 'PostgreSQL has stopped');
    t.same(sentences(assay.stderr()), [], 'there is nothing to complain about');
    if (runtime === 'deno') return;

    const kept = readdirSync(join(dataDir.path, 'compiled'));
    t.not(kept.length, 0, "the roles' code is kept compiled for the next start");

    const tracer = t.testdir({ 'tracer.cjs': `console.log('[tracer] on\\n{"tracer":true}')` });
    const again = await startAssay({
      dataDir: dataDir.path,
      environment: { NODE_OPTIONS: `--require=${join(tracer, 'tracer.cjs')}` },
    });
    t.teardown(() => again.stop());
    t.equal(again.key, null, 'the second start prints no key');
    await t.test(
      'a tracer that prints in every process does not disturb the start, and its lines go to stderr',
      async (t) => {
        t.ok(await isReady(again.gatewayUrl));
        // Every role prints them, and so do the threads that some have.
        for (const line of ['[tracer] on\n', '{"tracer":true}\n'])
          await waitFor('the lines', () => again.stderr().split(line).length > ROLES.length);
      },
    );
  });
}

t.test(
  'with DATABASE_URL no embedded PostgreSQL runs, and BOOTSTRAP_API_KEY becomes the first key',
  async (t) => {
    const database = await databaseFor(t, { migrated: false });
    const key = 'an-operators-own-key-0123456789';
    const assay = await startAssay({
      environment: { DATABASE_URL: database.url, BOOTSTRAP_API_KEY: key },
    });
    t.teardown(() => assay.stop());
    t.notOk(existsSync(join(assay.dataDir, 'postgres')));
    t.same(await database.sql`select name, tier from assay.organizations`, [
      { name: 'default', tier: 'enterprise' },
    ]);
    t.equal(assay.key, key);
    const response = await fetch(`${assay.apiUrl}/v1/request/query`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ filter: 'all' }),
    });
    t.equal(response.status, 200);
  },
);
