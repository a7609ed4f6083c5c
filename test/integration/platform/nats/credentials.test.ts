/** Credentials of NATS that end while a process runs. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import t from 'tap';
import { ConnectionMonitor, connectNats } from '#platform/nats/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { waitFor } from '../../../support/assay.ts';
import { natsIsMissing, startNats } from '../../../support/nats.ts';

t.test(
  'renewed credentials are read when the connection is made again, and why it is not is told',
  { skip: natsIsMissing() },
  async (t) => {
    const file = join(t.testdir(), 'assay.creds');
    const writeCredentials = (user: nkeys.KeyPair) => {
      const seed = new TextDecoder().decode(user.getSeed());
      // Servers without an operator ask for the signature alone.
      writeFileSync(
        file,
        `-----BEGIN A-----\njwt\n-----END A-----\n-----BEGIN B-----\n${seed}\n-----END B-----\n`,
      );
    };
    const onlyFor = (user: nkeys.KeyPair) => `authorization { users: [{ nkey: ${user.getPublicKey()} }] }`;
    const [former, renewed] = [nkeys.createUser(), nkeys.createUser()];
    const options = { config: onlyFor(former) };
    const nats = await startNats(options);
    t.teardown(() => nats[Symbol.asyncDispose]());

    writeCredentials(former);
    const lines: string[] = [];
    const note = (...parts: unknown[]) => lines.push(JSON.stringify(parts));
    const log = { info: note, warn: note } as unknown as Logger;
    const address = { servers: [nats.url], credentialsFile: file };
    const connection = await connectNats({ address, name: 'test', log });
    t.teardown(() => connection.close());
    const monitor = new ConnectionMonitor(connection, log);

    options.config = onlyFor(renewed);
    await nats.restart();
    await waitFor('the refusal', () => lines.some((line) => line.includes('Authorization Violation')));
    await waitFor('two more attempts', () => monitor.epoch > 3);
    t.equal(
      lines.filter((line) => line.includes('lost the connection')).length,
      1,
      'once, not with each attempt',
    );

    writeFileSync(file, '-----BEGIN A-----\n');
    const { epoch } = monitor;
    await waitFor('an attempt with half a file', () => monitor.epoch > epoch);
    writeCredentials(renewed);
    await waitFor('the connection', () => monitor.waitConnected(0));
    await connection.flush();
  },
);
