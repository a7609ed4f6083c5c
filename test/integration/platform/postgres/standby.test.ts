/** A name that leads to a standby for a while, as during a failover. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createLogger } from '#platform/observability/log.ts';
import { checkSchema, connectPostgres, isStoreUnavailable, type Sql } from '#platform/postgres/mod.ts';
import { chooseAccount } from '../../../../supervisor/postgres/account.ts';
import { findBinaries } from '../../../../supervisor/postgres/binaries.ts';
import { startEmbeddedPostgres } from '../../../../supervisor/postgres/server.ts';
import { waitFor } from '../../../support/assay.ts';
import { freePort } from '../../../support/free-port.ts';
import { makeMemoryDirectory } from '../../../support/memory-directory.ts';
import { postgresPid } from '../../../support/postgres.ts';
import { tether } from '../../../support/tether.ts';

/** Starts a standby of a cluster, which serves reads, as every standby does; returns its port. */
async function startStandby(t: Test, dataDir: string): Promise<number> {
  const cluster = join(dataDir, 'postgres');
  writeFileSync(join(cluster, 'standby.signal'), '');
  const port = await freePort();
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_locks_per_transaction=1024',
  ];
  const { postgres } = await findBinaries();
  const { command, parameters, ...ids } = chooseAccount([postgres, cluster]).run(postgres, [
    ...['-D', cluster, '-p', `${port}`],
    ...settings.flatMap((setting) => ['-c', setting]),
  ]);
  const child = spawn(command, parameters, { ...ids, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'exit');
  tether({ pid: child.pid, ended, signal: 'QUIT', directory: dataDir });
  t.teardown(async () => {
    child.kill('SIGQUIT');
    await ended;
    rmSync(dataDir, { recursive: true, force: true });
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  await waitFor('the standby', () => said.includes('ready to accept read-only connections'));
  return port;
}

/** Starts two servers of one cluster: its primary, and a standby. */
async function startPair(t: Test): Promise<{ url: string; standbyPort: number }> {
  const [dataDir, copyDir] = ['assay-test-primary-', 'assay-test-standby-'].map(makeMemoryDirectory);
  const options = { dataDir: dataDir!, log: createLogger({ role: 'test', level: 'error' }) };
  const made = await startEmbeddedPostgres(options);
  await made.stop();
  // By `cp`, as the files belong to the account that PostgreSQL runs under.
  spawnSync('cp', ['-a', join(dataDir!, 'postgres'), copyDir!]);
  const primary = await startEmbeddedPostgres(options);
  tether({ pid: postgresPid(dataDir!), ended: primary.exited, signal: 'QUIT', directory: dataDir! });
  t.teardown(async () => {
    await primary.stop();
    rmSync(dataDir!, { recursive: true, force: true });
  });
  return { url: primary.url, standbyPort: await startStandby(t, copyDir!) };
}

/** A name of a server: new connections go to where it leads at the moment, others stay where they are. */
async function startName(t: Test): Promise<{ port: number; leadsTo: number }> {
  const sockets = new Set<Socket>();
  const listening = createServer((client) => {
    const upstream = connect(name.leadsTo, '127.0.0.1');
    const pairs = [
      [client, upstream],
      [upstream, client],
    ] as const;
    for (const [socket, other] of pairs) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => other.destroy());
      socket.pipe(other);
    }
  });
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    listening.close();
  });
  const name = { port: (listening.address() as AddressInfo).port, leadsTo: 0 };
  return name;
}

t.test('no connection to a standby is kept: the next one follows the name to the primary', async (t) => {
  const { url, standbyPort } = await startPair(t);
  const name = await startName(t);
  const named = Object.assign(new URL(url), { port: `${name.port}` }).href;
  const sql: Sql = connectPostgres({
    url: named,
    max: 1,
    applicationName: 'failover',
    statementTimeoutMs: 5_000,
  });
  t.teardown(() => sql.end({ timeout: 1 }));

  name.leadsTo = standbyPort;
  await t.rejects(checkSchema(sql), { message: /is read-only, as a standby is: connect to the primary$/ });
  const refusal = await sql`select 1`.catch((error: unknown) => error);
  t.equal(isStoreUnavailable(refusal), true, 'its refusal is an outage, which is waited for');

  name.leadsTo = Number(new URL(url).port);
  await t.resolves(sql`create table written ()`, 'by a new connection');
});
