import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { isAlive, waitFor } from './assay.ts';
import { natsIsMissing } from './nats.ts';

const PARAMETERS = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval'];
const moduleOf = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);

/** A process that runs `program`, which starts others and calls `tell` with what is asked about them. */
async function starter<Told>(t: Test, program: string) {
  const child = spawn(
    process.execPath,
    [...PARAMETERS, `const tell = (told) => process.send(told);\n${program}\nsetInterval(() => {}, 60_000);`],
    { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  );
  t.teardown(() => child.kill('SIGKILL'));
  const [told] = (await once(child, 'message')) as [Told];
  return {
    told,
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

t.test('a killed process leaves no PostgreSQL server that it started, and none of its files', async (t) => {
  const { told, kill } = await starter<{ pid: number; directory: string }>(
    t,
    `import { dirname } from 'node:path';
     import { connectPostgres } from '#platform/postgres/mod.ts';
     import { postgresPid, startTestServer } from ${moduleOf('./postgres.ts')};
     const { url } = await startTestServer();
     const sql = connectPostgres({ url, max: 1, applicationName: 'test', statementTimeoutMs: 10_000 });
     const [row] = await sql\`show data_directory\`;
     const directory = dirname(row.data_directory);
     tell({ directory, pid: postgresPid(directory) });`,
  );
  t.ok(isAlive(told.pid));
  await kill();
  await waitFor('the server to end', () => !isAlive(told.pid));
  await waitFor('its files to go', () => !existsSync(told.directory));
});

t.test(
  'a killed process leaves no nats-server that it started, and none of its files',
  { skip: natsIsMissing() },
  async (t) => {
    const { told, kill } = await starter<{ pid: number; directory: string }>(
      t,
      `import { dirname } from 'node:path';
     import { startNats } from ${moduleOf('./nats.ts')};
     const nats = await startNats();
     tell({ directory: dirname(nats.storeDirectory), pid: nats.process.pid });`,
    );
    t.ok(isAlive(told.pid));
    await kill();
    await waitFor('the server to end', () => !isAlive(told.pid));
    await waitFor('its files to go', () => !existsSync(told.directory));
  },
);

t.test('a killed process leaves no Assay that it started, which stops in order', async (t) => {
  type Told = { pids: number[]; directory: string };
  const { told, kill } = await starter<Told>(
    t,
    `import { startAssay } from ${moduleOf('./assay.ts')};
     import { postgresPid } from ${moduleOf('./postgres.ts')};
     const assay = await startAssay();
     const roles = ['gateway', 'api', 'ingest', 'evaluators'].map((role) => assay.pidOf(role));
     tell({ directory: assay.dataDir, pids: [assay.process.pid, postgresPid(assay.dataDir), ...roles] });`,
  );
  t.ok(told.pids.every(isAlive));
  await kill();
  await waitFor('all to end', () => !told.pids.some(isAlive), 60_000);
  await waitFor('its files to go', () => !existsSync(told.directory));
});

t.test('a process that started something and has nothing else to do ends', async (t) => {
  const child = spawn(
    process.execPath,
    [
      ...PARAMETERS,
      `import { spawn } from 'node:child_process';
       import { tether } from ${moduleOf('./tether.ts')};
       const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
       child.unref();
       tether({ pid: child.pid, ended: new Promise(() => {}), signal: 'KILL' });
       process.stdout.write(String(child.pid));`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  t.teardown(() => child.kill('SIGKILL'));
  const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  await waitFor('it to end with who started it', () => !isAlive(Number(said)));
});
