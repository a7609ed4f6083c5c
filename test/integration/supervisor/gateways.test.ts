/** The socket that a supervisor gives its gateways, seen by programs in their place. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createLogger } from '#platform/observability/log.ts';
import { startGateways } from '../../../supervisor/gateways.ts';
import { holdSocket } from '../../../supervisor/held-socket.ts';
import { freePort } from '../../support/free-port.ts';

/** Notes which descriptors it is told of, and whether each is the one socket; runs until its supervisor is gone. */
const PROGRAM = `
  const { fstatSync, writeFileSync } = require('node:fs');
  const { GATEWAY_SOCKET_FD: first, GATEWAY_SOCKET_FDS: count, SEEN, PORT } = process.env;
  const fds = Array.from({ length: Number(count) }, (_, place) => Number(first) + place);
  const stats = fds.map((fd) => fstatSync(fd));
  const isOneSocket = stats.every((stat) => stat.isSocket() && stat.ino === stats[0].ino);
  writeFileSync(SEEN + '/' + process.pid, JSON.stringify({ fds, isOneSocket }));
  console.log(JSON.stringify({ address: 'http://127.0.0.1:' + PORT }));
  process.stdin.on('close', () => process.exit()).resume();
`;

for (const { count, fds } of [
  { count: 1, fds: [3, 4, 5, 6, 7, 8, 9, 10] },
  { count: 3, fds: [3, 4] },
  { count: 9, fds: [3] },
]) {
  t.test(`${count} gateways have the socket ${fds.length} times each`, async (t) => {
    const seen = t.testdir({ noted: {} });
    const port = await freePort();
    const socket = (await holdSocket('127.0.0.1', port))!;
    t.teardown(() => socket.release());
    const gateways = await startGateways({
      count,
      socket,
      command: process.execPath,
      parameters: ['--eval', PROGRAM],
      environment: { SEEN: join(seen, 'noted'), PORT: String(port) },
      log: createLogger({ role: 'test', level: 'silent' }),
    });
    t.teardown(() => gateways.kill());
    const noted = readdirSync(join(seen, 'noted')).map((name) =>
      JSON.parse(readFileSync(join(seen, 'noted', name), 'utf8')),
    );
    t.same(
      noted,
      Array.from({ length: count }, () => ({ fds, isOneSocket: true })),
    );
  });
}
