/** Faults of NATS and its configuration, with the sentence that reports each. */
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { pino } from 'pino';
import t from 'tap';
import { checkNats } from '#platform/log-pipeline/stream/mod.ts';
import type { NatsAddress } from '#platform/nats/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { runMain, sentences, temporaryDataDir } from '../../../support/assay.ts';
import { freePort } from '../../../support/free-port.ts';
import { natsIsMissing, startNats } from '../../../support/nats.ts';
import { databaseFor } from '../../../support/world.ts';

const log = createLogger({ role: 'test', level: 'silent' });
const skip = natsIsMissing();
const check = (...servers: string[]) => checkWith({ servers, credentialsFile: null });
const checkWith = (address: NatsAddress, use: 'writes' | 'reads' = 'writes') =>
  checkNats({ address, name: 'test', log, use });

t.test('a NATS server with JetStream is accepted, with and without an account', { skip }, async (t) => {
  await using open = await startNats();
  await check(open.url);
  await check(open.url);
  await using closed = await startNats({ config: 'authorization { user: assay, password: "s%cret" }' });
  await check(`nats://assay:s%25cret@127.0.0.1:${closed.port}`);
  t.pass('declared twice, and with a password that a URL must escape');
});

t.test('an unreachable NATS server is no configuration error', async (t) => {
  await check(`nats://127.0.0.1:${await freePort()}`);
  t.pass('no error');
});

t.test('wrong NATS credentials are reported without the password', { skip }, async (t) => {
  await using nats = await startNats({ config: 'authorization { user: assay, password: right }' });
  for (const url of [nats.url, `nats://assay:wrong-secret@127.0.0.1:${nats.port}`]) {
    const error = await check(url).catch((thrown: Error) => thrown);
    t.match(error, {
      name: 'NatsRefusalError',
      message: /^NATS at nats:\/\/127\.0\.0\.1:\d+ refuses the credentials: /,
    });
    t.notMatch(String(error), /wrong-secret/);
  }
});

t.test('a missing NATS credentials file is named in the error', async (t) => {
  await t.rejects(
    checkWith({ servers: ['nats://127.0.0.1:4222'], credentialsFile: '/nowhere/assay.creds' }),
    {
      message: /^Cannot read NATS_CREDS \/nowhere\/assay\.creds: ENOENT/,
    },
  );
  const file = join(t.testdir({ 'assay.creds': 'no credentials at all' }), 'assay.creds');
  await t.rejects(checkWith({ servers: ['nats://127.0.0.1:4222'], credentialsFile: file }), {
    message: /^Cannot read NATS_CREDS /,
  });
});

t.test('a NATS user with too few rights, or without room for the stream, is told so', { skip }, async (t) => {
  const permissions = 'permissions { publish: ["$JS.API.INFO"], subscribe: ["other"] }';
  await using closed = await startNats({
    config: `authorization { users: [{ user: u, password: p, ${permissions} }] }`,
  });
  await t.rejects(check(`nats://u:p@127.0.0.1:${closed.port}`), {
    name: 'NatsRefusalError',
    message:
      /^NATS at nats:\/\/127\.0\.0\.1:\d+ gives this user too few rights: .*_INBOX.*docs\/deployment\.md/,
  });
  await using small = await startNats({ limits: 'max_file_store: 10MB' });
  await t.rejects(check(small.url), {
    name: 'NatsRefusalError',
    message: /^NATS at nats:\/\/127\.0\.0\.1:\d+ has no room for the stream LOGS: insufficient storage/,
  });
});

t.test(
  'a right that is needed only once there are entries is missed at the start, and what is asked for it leaves no trace',
  { skip },
  async (t) => {
    const permissions = (publish: string) =>
      `permissions { publish: [${publish}], subscribe: ["assay.changes.>", "_INBOX.>"] }`;
    await using nats = await startNats({
      config: `authorization { users: [
        { user: all, password: p, ${permissions('"assay.>", "$JS.API.>", "$JS.ACK.LOGS.>"')} },
        { user: reader, password: p, ${permissions('"$JS.API.>", "$JS.ACK.LOGS.>"')} },
        { user: writer, password: p, ${permissions('"assay.>", "$JS.API.>"')} }
      ] }`,
    });
    const checkAs = (user: string, use: 'writes' | 'reads') =>
      checkWith({ servers: [`nats://${user}:p@127.0.0.1:${nats.port}`], credentialsFile: null }, use);
    await t.resolves(checkAs('writer', 'writes'), 'a gateway acknowledges nothing');
    await t.resolves(checkAs('reader', 'reads'), 'ingest writes nothing');
    for (const use of ['writes', 'reads'] as const) await t.resolves(checkAs('all', use));
    await t.rejects(checkAs('reader', 'writes'), { message: /too few rights: .*"assay\.logs"/ });
    await t.rejects(checkAs('writer', 'reads'), { message: /too few rights: .*"\$JS\.ACK\.LOGS\./ });
    const connection = await connect({ servers: nats.url, user: 'all', pass: 'p' });
    const { streams } = await jetstreamManager(connection);
    t.match((await streams.info('LOGS')).state, { messages: 0, last_seq: 0 });
    await connection.close();
  },
);

t.test('a stream that was made with the bytes that there are is accepted', { skip }, async (t) => {
  await using small = await startNats({ limits: 'max_file_store: 10MB' });
  const connection = await connect({ servers: small.url });
  const { streams } = await jetstreamManager(connection);
  const fitting = { retention: 'workqueue', discard: 'new', max_bytes: 9_000_000 } as const;
  await streams.add({ name: 'LOGS', subjects: ['assay.logs'], ...fitting });
  await check(small.url);
  const { config } = await streams.info('LOGS');
  t.match(config, { max_bytes: 9_000_000, deny_purge: true });
  await connection.close();
});

t.test('a JetStream that does not answer, as without a leader, is waited for', { skip }, async (t) => {
  await using nats = await startNats({ jetStream: false });
  const connection = await connect({ servers: nats.url });
  connection.subscribe('$JS.API.>');
  await connection.flush();
  await check(nats.url);
  await connection.close();
  t.pass('no error');
});

t.test('a NATS server without JetStream is refused', { skip }, async (t) => {
  await using nats = await startNats({ jetStream: false });
  await t.rejects(check(nats.url), {
    name: 'Error',
    message: /^NATS runs without JetStream for this account: /,
  });
});

t.test(
  'an existing stream that would lose entries is refused, one with other limits accepted',
  { skip },
  async (t) => {
    await using nats = await startNats();
    const connection = await connect({ servers: nats.url });
    const { streams } = await jetstreamManager(connection);
    await streams.add({ name: 'LOGS', subjects: ['other'], max_age: 60e9 });
    await t.rejects(check(nats.url), {
      message:
        'The NATS stream LOGS has settings that would lose log entries (retention is limits, not workqueue; discard is old, not new; max_age is 60000000000, not 0; its subjects are other, without assay.logs): remove it or give Assay an account of its own',
    });
    await streams.delete('LOGS');
    await check(nats.url);
    await streams.update('LOGS', { max_msg_size: 1_000 });
    await t.rejects(check(nats.url), { message: /\(max_msg_size is 1000, not -1\)/ });
    await streams.update('LOGS', { max_msg_size: -1 });
    await check(nats.url);
    await streams.update('LOGS', { max_bytes: 5_000_000 });
    await check(nats.url);
    t.equal((await streams.info('LOGS')).config.max_bytes, 5_000_000, 'and stay as the operator set them');
    await connection.close();
  },
);

t.test(
  'the stream lets nobody purge it or delete messages, also one of an earlier build',
  { skip },
  async (t) => {
    await using nats = await startNats();
    const connection = await connect({ servers: nats.url });
    const { streams } = await jetstreamManager(connection);
    for (const isEarlier of [true, false]) {
      // As builds before this protection declared it; the limit of bytes is the operator's.
      if (isEarlier)
        await streams.add({
          name: 'LOGS',
          subjects: ['assay.logs'],
          retention: 'workqueue',
          discard: 'new',
          max_bytes: 5_000_000,
        });
      await check(nats.url);
      const { seq } = await jetstream(connection).publish('assay.logs', 'x');
      await t.rejects(streams.purge('LOGS'), { message: /not permitted|purge/ });
      await t.rejects(streams.deleteMessage('LOGS', seq), { message: /not permitted|delete/ });
      await check(nats.url);
      const { config, state } = await streams.info('LOGS');
      t.match(config, { deny_purge: true, deny_delete: true });
      t.equal(state.messages, 1);
      if (isEarlier) t.equal(config.max_bytes, 5_000_000, 'and stays as the operator set it');
      await streams.delete('LOGS');
    }
    await connection.close();
  },
);

t.test('a stream that a user may not protect is used, and the log says what to do', { skip }, async (t) => {
  const accounts = `authorization { users: [
    { user: owner, password: owner },
    { user: assay, password: assay, permissions: { publish: { deny: "$JS.API.STREAM.UPDATE.LOGS" } } }
  ] }`;
  await using nats = await startNats({ config: accounts });
  const owner = await connect({ servers: nats.url, user: 'owner', pass: 'owner' });
  const { streams } = await jetstreamManager(owner);
  await streams.add({ name: 'LOGS', subjects: ['assay.logs'], retention: 'workqueue', discard: 'new' });
  const warnings: { level: number; stream: string; msg: string }[] = [];
  const told = pino({}, { write: (line: string) => warnings.push(JSON.parse(line)) });
  const address = { servers: [`nats://assay:assay@127.0.0.1:${nats.port}`], credentialsFile: null };
  await checkNats({ address, name: 'test', log: told, use: 'writes' });
  t.match(
    warnings.filter(({ stream }) => stream === 'LOGS'),
    [{ level: 40, msg: /deny_purge and deny_delete/ }],
  );
  await streams.update('LOGS', { deny_purge: true, deny_delete: true });
  warnings.length = 0;
  await checkNats({ address, name: 'test', log: told, use: 'writes' });
  t.same(
    warnings.filter(({ stream }) => stream === 'LOGS'),
    [],
  );
  await owner.close();
});

t.test('a role that NATS refuses prints one sentence and does not start', { skip }, async (t) => {
  const database = await databaseFor(t);
  const data = temporaryDataDir();
  t.teardown(async () => {
    data.remove();
  });
  await using nats = await startNats({ jetStream: false });
  const environment = {
    DATABASE_URL: database.url,
    DATA_DIR: data.path,
    NATS_URL: nats.url,
    GATEWAY_PORT: '0',
    API_PORT: '0',
  };
  for (const role of ['gateway', 'ingest', 'api']) {
    const run = runMain([role], environment);
    t.match(await run.ended, { code: 1 }, role);
    t.same(sentences(run.stderr()), [
      'NATS runs without JetStream for this account: start nats-server with -js, or enable it for the account',
    ]);
  }
});
