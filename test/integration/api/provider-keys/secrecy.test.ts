/** Secrecy of provider keys: invisible to other organizations and the log, and never stored in the clear. */
import { pino } from 'pino';
import t from 'tap';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';
import type { TestApi } from '../../../support/api.ts';
import { connectAsApi } from '../../../support/postgres.ts';
import { createWorld } from '../../../support/world.ts';
import { list, PATH, put, secretKeyOf, startProviderKeyApi } from './world.ts';

const OURS = 'sk-ours-1f0c8a55e2d94b7730aa-OurK';
const THEIRS = 'sk-theirs-9b2e6d1c4f8a03577e11-Them';

let api: TestApi;
/** As the API connects: under row-level security. */
let confined: Sql;
t.before(async () => {
  api = await startProviderKeyApi(t);
  confined = connectAsApi(api.database.url);
});
t.beforeEach(async () => {
  await api.database.sql`delete from assay.provider_keys`;
  await put(api, 'openai', THEIRS, api.other.key);
});
t.teardown(async () => {
  await confined.end();
});

t.test('provider keys of another organization are neither listed nor found', async (t) => {
  t.same(await list(api), []);
  const answers = async (provider: string) => {
    const all = await Promise.all(
      ['GET', 'DELETE'].map((method) => api.call(`${PATH}/${provider}`, { method })),
    );
    return all.map(({ status, text }) => [status, text.replaceAll(provider, 'PROVIDER')]);
  };
  t.strictSame(await answers('openai'), await answers('mistral'), 'cannot be told from one that nobody has');
  await put(api, 'openai', OURS);
  t.match(await list(api), [{ provider: 'openai', hint: 'OurK' }]);
  t.match(await list(api, api.other.key), [{ provider: 'openai', hint: 'Them' }], 'each has its own');
  await api.call(`${PATH}/openai`, { method: 'DELETE' });
  t.match(await list(api, api.other.key), [{ provider: 'openai', hint: 'Them' }]);
});

t.test(
  'row-level security limits statements on provider keys to the organization of their transaction',
  async (t) => {
    await put(api, 'openai', OURS);
    t.same(await confined`select * from assay.provider_keys`, [], 'nothing outside an organization');
    const { organizationId: own } = api.own;
    const { organizationId: other } = api.other;
    await inOrganization(confined, own, async (tx) => {
      const seen = await tx`select organization_id from assay.provider_keys`;
      t.same(
        seen.map((row) => row.organization_id),
        [own],
      );
      t.equal((await tx`update assay.provider_keys set sealed = '' returning 1`).length, 1);
      t.equal(
        (await tx`delete from assay.provider_keys where organization_id = ${other} returning 1`).length,
        0,
      );
    });
    const planted = inOrganization(
      confined,
      own,
      (tx) => tx`insert into assay.provider_keys values (${other}, 'groq', '', now(), now())`,
    );
    await t.rejects(planted, { code: '42501' });
    for (const change of [`organization_id = '${other}'`, "provider = 'groq'"]) {
      const moved = inOrganization(confined, own, (tx) =>
        tx.unsafe(`update assay.provider_keys set ${change}`),
      );
      await t.rejects(moved, { code: '42501' }, change);
    }
    t.match(await list(api, api.other.key), [{ provider: 'openai', hint: 'Them', readable: true }]);
  },
);

t.test(
  'a provider key row copied to another organization or provider cannot be decrypted there',
  async (t) => {
    await api.database.sql`
    insert into assay.provider_keys
    select ${api.own.organizationId}, provider, sealed, now(), now() from assay.provider_keys`;
    await api.database.sql`
    insert into assay.provider_keys
    select organization_id, 'custom', sealed, now(), now() from assay.provider_keys
    where organization_id = ${api.other.organizationId}`;
    t.match(await list(api), [{ provider: 'openai', hint: null, readable: false }]);
    t.match(await list(api, api.other.key), [
      { provider: 'custom', hint: null, readable: false },
      { provider: 'openai', hint: 'Them', readable: true },
    ]);
  },
);

/** A secret as it is, and as a dump may write it. */
const formsOf = (secret: string) => [
  secret,
  secret.slice(-12),
  Buffer.from(secret).toString('hex'),
  Buffer.from(secret).toString('base64').slice(0, -4),
];

t.test('a dump of the database holds no part of a provider key', async (t) => {
  await put(api, 'openai', OURS);
  await put(api, 'openai', `${OURS}-replaced`);
  const { sql } = api.database;
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'assay'`;
  t.ok(tables.some(({ name }) => name === 'provider_keys'));
  const dump: string[] = [];
  for (const { name } of tables) {
    const rows = await sql<{ row: string }[]>`select to_json(x)::text as row from ${sql(`assay.${name}`)} x`;
    dump.push(...rows.map(({ row }) => row));
  }
  const statements = await sql<
    { query: string }[]
  >`select query from pg_stat_activity where query is not null`;
  const text = [...dump, ...statements.map(({ query }) => query)].join('\n');
  t.match(text, '"provider":"openai"', 'the rows are in it');
  for (const secret of [OURS, THEIRS]) for (const form of formsOf(secret)) t.notMatch(text, form, form);
});

t.test('a failure to store a provider key reveals nothing of it in the response or the log', async (t) => {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line) => void lines.push(line) });
  const world = await createWorld(t, api.database);
  const { url } = await world.start('api', { SECRET_KEY: secretKeyOf(7) }, log);
  t.teardown(() => api.database.sql`alter table assay.provider_keys drop constraint refused`);
  await api.database.sql`alter table assay.provider_keys add constraint refused check (provider <> 'groq')`;
  const answer = await fetch(`${url}${PATH}/groq`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${api.own.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ key: OURS }),
  });
  const text = await answer.text();
  t.equal(answer.status, 500);
  t.match(lines.join(''), /violates check constraint/, 'the log has the reason');
  for (const form of formsOf(OURS)) {
    t.notMatch(text, form);
    t.notMatch(lines.join(''), form);
  }
});
