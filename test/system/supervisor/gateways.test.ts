import t from 'tap';
import { request } from 'undici';
import {
  isReady,
  type Runtime,
  runMain,
  sentences,
  startAssay,
  temporaryDataDir,
  waitFor,
} from '../../support/assay.ts';
import { freePort } from '../../support/free-port.ts';
import { databaseFor } from '../../support/world.ts';

const runtimes: Runtime[] = ['node', 'deno'];

/** Whether a call over a new connection is answered. */
async function isServed(url: string): Promise<boolean> {
  const { statusCode, body } = await request(`${url}/healthz`, { reset: true });
  await body.dump();
  return statusCode === 200;
}

for (const runtime of runtimes) {
  t.test(`under ${runtime}, GATEWAYS=2 serve one port, and SIGUSR2 replaces both`, async (t) => {
    const database = await databaseFor(t);
    const assay = await startAssay({ runtime, environment: { DATABASE_URL: database.url, GATEWAYS: '2' } });
    t.teardown(() => assay.stop());
    const started = () => [...assay.stderr().matchAll(/"started":"gateway"/g)].length;
    t.equal(started(), 2);
    t.ok(await isServed(assay.gatewayUrl));
    assay.process.kill('SIGUSR2');
    await waitFor('the restart', () => assay.stderr().includes('Restarted the gateways'));
    t.equal(started(), 4);
    t.ok(await isServed(assay.gatewayUrl), 'on the same port');
    t.same(sentences(assay.stderr()), [], 'there is nothing to complain about');

    await t.test(`under ${runtime}, kill -9 of one of two gateways fails no later call`, async (t) => {
      const before = assay.pidOf('gateway');
      assay.kill('gateway');
      // A connection that it accepted before it died is not a later call's.
      await waitFor('its death', () => assay.stderr().includes('"died":"gateway"'));
      await waitFor('the next', async () => {
        t.ok(await isServed(assay.gatewayUrl));
        return assay.pidOf('gateway') !== before;
      });
    });
    t.same(await assay.stop(), { code: 0, signal: null });
    t.same(sentences(assay.stderr()), [], 'nor when it has stopped');
  });
}

t.test('after kill -9 of the only gateway callers wait for the next and are not refused', async (t) => {
  const database = await databaseFor(t);
  const assay = await startAssay({ environment: { DATABASE_URL: database.url } });
  t.teardown(() => assay.stop());
  assay.kill('gateway');
  await waitFor('its death', () => assay.stderr().includes('"died":"gateway"'));
  t.ok(await isServed(assay.gatewayUrl));

  await t.test('a gateway that cannot start does not replace the one that serves', async (t) => {
    await database.sql`insert into assay.migrations (name, run_on) values ('9999_from_the_future', now())`;
    assay.process.kill('SIGUSR2');
    await waitFor('the restart to fail', () => assay.stderr().includes('The restart of the gateways failed'));
    t.ok(await isServed(assay.gatewayUrl), 'the former goes on');
    t.match(sentences(assay.stderr()), [/schema is newer/]);
    t.same(await assay.stop(), { code: 0, signal: null });
  });
});

t.test('SIGUSR2 in the middle of the start does no harm', async (t) => {
  const dataDir = temporaryDataDir();
  t.teardown(dataDir.remove);
  const run = runMain([], { GATEWAY_PORT: '0', API_PORT: '0', DATA_DIR: dataDir.path });
  await waitFor('the first role', () => run.stderr().includes('"started":"gateway"'));
  run.process.kill('SIGUSR2');
  await waitFor('the greeting', () => run.stdout().includes('Assay is ready'));
  run.process.kill('SIGTERM');
  t.same(await run.ended, { code: 0, signal: null });
});

t.test('gateways started by themselves share a port when all of them are to, and else not', async (t) => {
  const database = await databaseFor(t);
  const dataDir = temporaryDataDir();
  t.teardown(dataDir.remove);
  const port = String(await freePort());
  const environment = { DATABASE_URL: database.url, DATA_DIR: dataDir.path, GATEWAY_PORT: port };
  const url = `http://127.0.0.1:${port}`;
  const sharing = { ...environment, GATEWAY_SHARE_PORT: 'true' };
  const serves = (run: { stderr(): string }) => () => run.stderr().includes('gateway serves');

  const first = runMain(['gateway'], sharing);
  t.teardown(() => first.process.kill('SIGKILL'));
  await waitFor('the first', serves(first));
  const second = runMain(['gateway'], sharing);
  t.teardown(() => second.process.kill('SIGKILL'));
  await waitFor('the second', serves(second));

  const alone = runMain(['gateway'], environment);
  t.equal((await alone.ended).code, 1);
  t.same(sentences(alone.stderr()), [
    `Cannot listen on 127.0.0.1:${port}: the port is taken by another process`,
  ]);
  const whole = runMain([], { ...environment, API_PORT: '0' });
  t.equal((await whole.ended).code, 1);
  t.same(sentences(whole.stderr()), [
    `Cannot listen on 127.0.0.1:${port}: another process has it; set GATEWAY_PORT to another port`,
  ]);

  first.process.kill('SIGTERM');
  t.same(await first.ended, { code: 0, signal: null });
  t.ok(await isReady(url), 'the second goes on');
  second.process.kill('SIGTERM');
  t.same(await second.ended, { code: 0, signal: null });
});
