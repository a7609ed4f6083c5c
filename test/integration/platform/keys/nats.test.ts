/** Changes of keys over NATS, where the line to Postgres drops notifications. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { KEY_CHANGES_SUBJECT } from '#core/contracts/channels.ts';
import { createKey, createKeyDirectory, createOrganization, revokeKey } from '#platform/keys/mod.ts';
import { announceChange } from '#platform/nats/mod.ts';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { sealProviderKey } from '#platform/provider-keys/mod.ts';
import { createSecretBox } from '#platform/secrets/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { natsIsMissing, startNats } from '../../../support/nats.ts';
import { changesOf, databaseFor } from '../../../support/world.ts';

const log = createLogger({ role: 'test', level: 'silent' });

t.test(
  'a revocation without a Postgres notification takes effect when announced over NATS, after outages too',
  { skip: natsIsMissing() },
  async (t) => {
    const database = await databaseFor(t);
    const nats = await startNats();
    const { sql } = database;
    // As behind a pooler in transaction mode: no notification arrives.
    await sql`drop trigger keys_changed on assay.api_keys`;
    const address = { servers: [nats.url], credentialsFile: null };
    const directory = createKeyDirectory({
      sql,
      ...changesOf(sql, address),
      clock: systemClock,
      log,
      secrets: null,
    });
    t.teardown(async () => {
      await directory.stop();
      await nats[Symbol.asyncDispose]();
    });
    const { organizationId } = await createOrganization(sql, { name: 'acme' });
    const make = async () => await createKey(sql, { organizationId, scopes: ['read'], name: '' });
    const isValid = async (key: string) => (await directory.find(key)) !== null;

    const first = await make();
    // Known and fresh without asking: what a notification would end.
    await waitFor('the directory to be listening', async () => {
      await directory.find(first.key);
      return !(directory.find(first.key) instanceof Promise);
    });
    await revokeKey(sql, first.record.keyId);
    t.ok(await isValid(first.key), 'nobody has told it yet');
    await waitFor('the announcement to arrive', async () => {
      await announceChange({ subject: KEY_CHANGES_SUBJECT, address, name: 'test', log });
      return !(await isValid(first.key));
    });

    const second = await make();
    t.ok(await isValid(second.key));
    t.notOk(directory.find(second.key) instanceof Promise, 'known and fresh');
    await nats.kill();
    await revokeKey(sql, second.record.keyId);
    t.ok(await isValid(second.key), 'an announcement has nobody to reach');
    await nats.restart();
    await waitFor('what may have been missed to be asked for', async () => !(await isValid(second.key)));
  },
);

t.test(
  'a provider key without a Postgres notification takes effect when announced over NATS',
  { skip: natsIsMissing() },
  async (t) => {
    const database = await databaseFor(t);
    const nats = await startNats();
    const { sql } = database;
    await sql`drop trigger provider_keys_changed on assay.provider_keys`;
    const address = { servers: [nats.url], credentialsFile: null };
    const secrets = createSecretBox([randomBytes(32)]);
    const directory = createKeyDirectory({
      sql,
      ...changesOf(sql, address),
      clock: systemClock,
      log,
      secrets,
    });
    t.teardown(async () => {
      await directory.stop();
      await nats[Symbol.asyncDispose]();
    });
    const { organizationId } = await createOrganization(sql, { name: 'acme' });
    const { key } = await createKey(sql, { organizationId, scopes: ['gateway'] });
    const openaiKeys = async () => [
      (await directory.find(key))?.providerKeys.get('openai'),
      (await directory.providerKeysOf(organizationId)).get('openai'),
    ];
    await waitFor('the directory to be listening', async () => {
      await openaiKeys();
      const answers = [directory.find(key), directory.providerKeysOf(organizationId)];
      return answers.every((answer) => !(answer instanceof Promise));
    });
    const sealed = sealProviderKey(secrets, { organizationId, provider: 'openai' }, 'sk-acme');
    await sql`
      insert into assay.provider_keys (organization_id, provider, sealed, created_at, updated_at)
      values (${organizationId}, 'openai', ${sealed}, now(), now())`;
    t.same(await openaiKeys(), [undefined, undefined], 'nobody has told it yet');
    await waitFor('the announcement to arrive', async () => {
      await announceChange({ subject: KEY_CHANGES_SUBJECT, address, name: 'test', log });
      return (await openaiKeys()).every((openai) => openai === 'sk-acme');
    });
    t.pass('both ways to ask know it');
  },
);
