import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import {
  type Assay,
  isAlive,
  isReady,
  type Runtime,
  runMain,
  startAssay,
  temporaryDataDir,
  waitFor,
} from '../../support/assay.ts';
import { freePort } from '../../support/free-port.ts';
import { postgresPid } from '../../support/postgres.ts';

const runtimes: Runtime[] = ['node', 'deno'];
const ROLES = ['gateway', 'api', 'ingest', 'evaluators'];

for (const runtime of runtimes) {
  t.test(
    `under ${runtime}, after kill -9 of the supervisor its roles end, and the next start works`,
    async (t) => {
      const dataDir = temporaryDataDir();
      t.teardown(dataDir.remove);
      // Ports that no other process is given between the kill and the next start.
      const environment = { GATEWAY_PORT: `${await freePort()}`, API_PORT: `${await freePort()}` };
      const first = await startAssay({
        runtime,
        dataDir: dataDir.path,
        environment: { ...environment, GATEWAYS: '2' },
      });
      const pids = ROLES.map((role) => first.pidOf(role));
      first.process.kill('SIGKILL');
      await first.ended;
      // On the same ports: the roles of the first must have let go of them.
      const second = await startAssay({ runtime, dataDir: dataDir.path, environment });
      t.teardown(() => second.stop());
      t.same(pids.filter(isAlive), [], 'the orphans have ended');
      t.ok(await isReady(second.gatewayUrl), 'the new gateway is ready');
      t.equal(second.key, null, 'it is the same database');
      if (runtime === 'node') await surviveDeaths(t, second);
      t.same(await second.stop(), { code: 0, signal: null });
    },
  );
}

/** Returns the process id of the embedded PostgreSQL; null while there is none, and its file is not there or not written. */
function runningPostgres(dataDir: string): number | null {
  try {
    return postgresPid(dataDir) || null;
  } catch {
    return null;
  }
}

/** Kills each part of a running Assay, which starts it again. */
async function surviveDeaths(t: Test, assay: Assay): Promise<void> {
  await t.test('a role that dies is started again on the port it had', async (t) => {
    for (const [role, url] of [
      ['gateway', assay.gatewayUrl],
      ['api', assay.apiUrl],
    ] as const) {
      const before = assay.pidOf(role);
      const killedAt = performance.now();
      assay.kill(role);
      await waitFor(
        `the ${role} to be back`,
        async () => assay.pidOf(role) !== before && (await isReady(url)),
      );
      t.pass(`the ${role} is back, after ${Math.round(performance.now() - killedAt)} ms`);
    }
  });
  await t.test('the embedded PostgreSQL is started again when it dies, and the roles find it', async () => {
    const before = postgresPid(assay.dataDir);
    assay.killPostgres();
    // The gateway may be ready again before it was seen that it was not.
    await waitFor('another PostgreSQL', () => {
      const now = runningPostgres(assay.dataDir);
      return now !== null && now !== before;
    });
    await waitFor('the gateway to be ready again', () => isReady(assay.gatewayUrl));
  });
}

t.test('a Ctrl-C that comes twice within a moment, as npm sends it, counts as one', async (t) => {
  const assay = await startAssay();
  t.teardown(() => assay.stop());
  assay.process.kill('SIGINT');
  assay.process.kill('SIGINT');
  t.same(await assay.ended, { code: 0, signal: null });
});

t.test('a signal in the middle of the start stops what has started, and the next start works', async (t) => {
  const dataDir = temporaryDataDir();
  t.teardown(dataDir.remove);
  const run = runMain([], { GATEWAY_PORT: '0', API_PORT: '0', DATA_DIR: dataDir.path });
  await waitFor('the first role', () => run.stderr().includes('"started":"gateway"'));
  run.process.kill('SIGTERM');
  t.same(await run.ended, { code: 0, signal: null });
  const again = await startAssay({ dataDir: dataDir.path });
  t.teardown(() => again.stop());
  t.ok(await isReady(again.apiUrl));
  await t.test('a second signal ends everything at once', async (t) => {
    const pids = ROLES.map((role) => again.pidOf(role));
    again.process.kill('SIGINT');
    await sleep(150);
    again.process.kill('SIGINT');
    const ending = await again.ended;
    t.ok(
      ending.code === 130 || ending.code === 0,
      'with the status of a Ctrl-C, unless the stop was quicker',
    );
    await waitFor('the roles to be gone', () => pids.every((pid) => !isAlive(pid)));
  });
});
