/** A gateway whose limit of open files is low, and more clients than that. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { Agent, request } from 'undici';
import { createKey, createOrganization } from '#platform/keys/mod.ts';
import { inheritedEnvironment, isReady, temporaryDataDir, waitFor } from '../../support/assay.ts';
import { freePort } from '../../support/free-port.ts';
import { tether } from '../../support/tether.ts';
import { databaseFor, scriptedProvider } from '../../support/world.ts';

const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
const OPEN_FILES = 320;
/** Half of what 192 leave. */
const MAX_CONNECTIONS = 64;

t.test(
  'calls on kept connections are answered while others take all descriptors that they can',
  async (t) => {
    const database = await databaseFor(t);
    const provider = await scriptedProvider(t);
    const dataDir = temporaryDataDir();
    t.teardown(dataDir.remove);
    const port = await freePort();
    const { organizationId } = await createOrganization(database.sql, { name: 'acme' });
    const { key } = await createKey(database.sql, { organizationId, scopes: ['gateway'] });
    const command = `ulimit -n ${OPEN_FILES}; exec "$0" --disable-warning=ExperimentalWarning "$1" gateway`;
    const gateway = spawn('sh', ['-c', command, process.execPath, MAIN], {
      env: {
        ...inheritedEnvironment(),
        DATABASE_URL: database.url,
        DATA_DIR: dataDir.path,
        GATEWAY_PORT: String(port),
        OPENAI_API_KEY: 'sk-operator',
        OPENAI_BASE_URL: provider.url,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let log = '';
    gateway.stderr.on('data', (bytes) => {
      log += bytes;
    });
    const ended = once(gateway, 'exit');
    tether({ pid: gateway.pid, ended, signal: 'KILL' });
    t.teardown(async () => {
      gateway.kill('SIGTERM');
      await ended;
    });
    const url = `http://127.0.0.1:${port}`;
    await waitFor('the gateway', () => isReady(url));
    const agent = new Agent({ connections: MAX_CONNECTIONS - 10, pipelining: 1 });
    t.teardown(() => agent.destroy());
    const call = async () => {
      const { statusCode, body } = await request(`${url}/v1/chat/completions`, {
        method: 'POST',
        dispatcher: agent,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }),
      });
      return [statusCode, await body.text()] as const;
    };
    /** As many calls as there are kept connections, all with their provider at the same time. */
    const callAll = async () => {
      const calls = Array.from({ length: MAX_CONNECTIONS - 10 }, call);
      for (const [status, text] of await Promise.all(calls)) t.equal(status, 200, status === 200 ? '' : text);
    };
    // Connections of clients alone: those to the provider are opened when all others are there.
    const list = () => request(`${url}/v1/models`, { dispatcher: agent }).then(({ body }) => body.dump());
    await Promise.all(Array.from({ length: MAX_CONNECTIONS - 10 }, list));
    const others: Socket[] = [];
    t.teardown(() => {
      for (const socket of others) socket.destroy();
    });
    for (let other = 0; other < OPEN_FILES + 100; other += 1) {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      others.push(socket);
      await once(socket, 'connect');
    }
    for (let round = 0; round < 3; round += 1) await callAll();
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const refused = Number(/^assay_http_connections_refused_total\{.*\} (\d+)$/m.exec(metrics)?.[1]);
    t.ok(refused >= OPEN_FILES + 100 - MAX_CONNECTIONS, `${refused} were turned away`);
    t.ok(Number(/^assay_http_connections\{.*\} (\d+)$/m.exec(metrics)?.[1]) <= MAX_CONNECTIONS + 64);
    const warnings = log.split('\n').filter((line) => line.includes('limit of open files'));
    t.equal(warnings.length, 1, 'which is warned of once');
  },
);
