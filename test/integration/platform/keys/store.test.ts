import t from 'tap';
import { generateApiKey } from '#platform/keys/api-key.ts';
import {
  createKey,
  createOrganization,
  findOrganization,
  hashApiKey,
  listKeys,
  reserveRequestId,
  revokeKey,
} from '#platform/keys/mod.ts';
import { databaseFor } from '../../../support/world.ts';

t.test('API keys in Postgres', async (t) => {
  const database = await databaseFor(t);
  const { sql } = database;
  const { organizationId } = await createOrganization(sql, { name: 'acme' });

  t.test('a generated key has 256 bits of randomness and no pattern but its prefix', async (t) => {
    const keys = new Set(Array.from({ length: 1_000 }, generateApiKey));
    t.equal(keys.size, 1_000);
    for (const key of keys) if (!/^sk-assay-[0-9A-Za-z]{43}$/.test(key)) t.fail(key);
  });

  t.test('only the hash of a key is stored', async (t) => {
    const { key, record } = await createKey(sql, { organizationId, scopes: ['read'], name: 'reports' });
    const rows = await sql<{ row: string; hash: Buffer }[]>`
      select to_json(k)::text as row, hash from assay.api_keys k where key_id = ${record.keyId}`;
    const [stored] = rows;
    t.same(stored?.hash, hashApiKey(key));
    t.notMatch(stored?.row ?? '', key.slice(13), 'nothing of it but the prefix');
    t.equal(record.prefix, key.slice(0, 12));
    t.notMatch(JSON.stringify(record), key.slice(13));
  });

  t.test('API keys are listed newest first, including revoked ones', async (t) => {
    const first = await createKey(sql, { organizationId, scopes: ['gateway'] });
    const second = await createKey(sql, { organizationId, scopes: ['gateway', 'write', 'gateway'] });
    await revokeKey(sql, first.record.keyId);
    const [newest, older] = await listKeys(sql, { organizationName: 'acme' });
    t.match(newest, { keyId: second.record.keyId, scopes: ['gateway', 'write'], revokedAt: null });
    t.match(older, { keyId: first.record.keyId, revokedAt: Date });
    t.same(await listKeys(sql, { organizationName: 'nobody' }), []);
  });

  t.test('an API key is revoked by its prefix, unless several have it', async (t) => {
    const key = `operators-own-${generateApiKey()}`;
    const { record } = await createKey(sql, { organizationId, scopes: ['read'], key });
    const revoked = await revokeKey(sql, record.prefix);
    t.equal(revoked.keyId, record.keyId);
    t.same((await revokeKey(sql, record.keyId)).revokedAt, revoked.revokedAt, 'once is enough');
    await createKey(sql, { organizationId, scopes: ['read'], key: `${key}-too` });
    await t.rejects(revokeKey(sql, record.prefix), { code: 'conflict' });
    await t.rejects(revokeKey(sql, 'sk-assay-none'), { code: 'not_found' });
  });

  t.test('creating an organization name or an API key that exists is a conflict', async (t) => {
    await t.rejects(createOrganization(sql, { name: 'acme' }), {
      code: 'conflict',
      message: 'There is an organization called "acme" already',
    });
    const { key } = await createKey(sql, { organizationId, scopes: ['read'] });
    await t.rejects(createKey(sql, { organizationId, scopes: ['read'], key }), { code: 'conflict' });
    await t.rejects(createOrganization(sql, { name: '' }), { code: 'invalid_body' });
    t.equal(await findOrganization(sql, 'nobody'), null);
  });

  t.test('a request id that a client chose is reserved once in its organization', async (t) => {
    const other = await createOrganization(sql, { name: 'globex' });
    const id = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
    const claims = await Promise.all(
      Array.from({ length: 5 }, () => reserveRequestId(sql, organizationId, id)),
    );
    t.equal(claims.filter(Boolean).length, 1, 'by one of many at once');
    t.ok(await reserveRequestId(sql, other.organizationId, id), 'another organization has ids of its own');
  });

  t.test('a request id that Assay generated cannot be reserved', async (t) => {
    const id = '01ARZ3NDEKTSV4RRFFQ69G5FAW';
    await sql`select assay.ensure_partitions(now())`;
    await sql`
      insert into assay.requests
        (organization_id, created_at, request_id, source, path, provider, model, status, is_stream, truncated)
      values (${organizationId}, now(), ${id}, 'gateway', '/', 'OPENAI', 'm', 200, false, false)`;
    t.notOk(await reserveRequestId(sql, organizationId, id));
  });
});
