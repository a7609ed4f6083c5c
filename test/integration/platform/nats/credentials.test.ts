/** Credentials of NATS that end while a process runs. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { nkeys } from '@nats-io/transport-node';
import t from 'tap';
import { ConnectionMonitor, connectNats, connectOnce } from '#platform/nats/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { settlesWithin } from '#platform/process/deadline.ts';
import { waitFor } from '../../../support/assay.ts';
import { certificateFiles, makeCertificate } from '../../../support/make-certificate.ts';
import { natsIsMissing, startNats } from '../../../support/nats.ts';
import { silentLog } from '../../../support/world.ts';

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

t.test(
  'the seed of an nkey is taken as it is, and one that is wrong is refused',
  { skip: natsIsMissing() },
  async (t) => {
    const user = nkeys.createUser();
    const nats = await startNats({
      config: `authorization { users: [{ nkey: ${user.getPublicKey()} }] }`,
    });
    t.teardown(() => nats[Symbol.asyncDispose]());
    const fileOf = (key: nkeys.KeyPair) => {
      const file = join(t.testdir(), 'user.nk');
      writeFileSync(file, `${new TextDecoder().decode(key.getSeed())}\n`);
      return file;
    };
    const connectWith = (credentialsFile: string) =>
      connectOnce({ address: { servers: [nats.url], credentialsFile }, name: 'test', log: silentLog });
    const connection = await connectWith(fileOf(user));
    await connection!.flush();
    await connection!.close();
    await t.rejects(connectWith(fileOf(nkeys.createUser())), { name: 'NatsRefusalError' });
  },
);

t.test(
  'a server that asks for a client certificate gets it, anew for each connection',
  { skip: natsIsMissing() },
  async (t) => {
    const [server, former, renewed] = ['localhost', 'former', 'renewed'].map(makeCertificate);
    const client = certificateFiles(former!);
    const serverFiles = certificateFiles(server!);
    const trusted = certificateFiles(former!);
    for (const files of [client, serverFiles, trusted]) t.teardown(files.remove);
    const authorities = getCACertificates();
    setDefaultCACertificates([...authorities, server!.cert]);
    t.teardown(() => setDefaultCACertificates(authorities));
    const { certFile, keyFile } = serverFiles;
    const nats = await startNats({
      config: `tls { cert_file: "${certFile}", key_file: "${keyFile}", ca_file: "${trusted.certFile}", verify: true }`,
    });
    t.teardown(() => nats[Symbol.asyncDispose]());
    const address = { servers: [`tls://localhost:${nats.port}`], credentialsFile: null };
    t.equal(await connectOnce({ address, name: 'test', log: silentLog }), null, 'without one there is none');
    const clientCertificate = { certFile: client.certFile, keyFile: client.keyFile };
    const connection = await connectNats({
      address: { ...address, clientCertificate },
      name: 'test',
      log: silentLog,
    });
    t.teardown(() => connection.close());
    await connection.flush();

    client.write(renewed!);
    trusted.write(renewed!);
    await nats.restart();
    await waitFor('the connection with the renewed certificate', async () => {
      const inTime = settlesWithin(connection.flush(), 1_000);
      return await inTime.catch(() => false);
    });
  },
);
