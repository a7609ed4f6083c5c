import t from 'tap';
import { inOrganization, type TransactionSql } from '#platform/postgres/mod.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { connectAsApi } from '../../../support/postgres.ts';
import { insertRequests } from '../../../support/seed-requests.ts';
import { ask, BODY, create, type NewPrompt, PATH, version } from './world.ts';

const TABLES = ['prompts', 'prompt_versions', 'prompt_environments'];
/** A UUID of nothing. */
const NOTHING = '00000000-0000-4000-8000-000000000000';

let api: TestApi;
let theirs: NewPrompt;
let ours: NewPrompt;
t.before(async () => {
  api = await startTestApi(t);
  const named = { name: 'Same name', tags: ['theirs'], environment: 'theirs', promptBody: BODY };
  theirs = await ask(api, PATH, named, api.other.key);
  ours = await create(api, { name: 'Same name' });
  await insertRequests(api.database.sql, api.other.organizationId, [
    { request_id: 'their request', prompt_id: ours.id, prompt_version: '1.0', inputs: { secret: 's' } },
  ]);
});

t.test('lists hold nothing of another organization', async (t) => {
  t.same(
    (await ask<{ id: string }[]>(api, `${PATH}/query`, {})).map(({ id }) => id),
    [ours.id],
  );
  t.equal(await ask(api, `${PATH}/count`), 1);
  t.same(await ask(api, `${PATH}/tags`), []);
  t.same(await ask(api, `${PATH}/environments`), ['production']);
});

t.test('a prompt and a version of another organization are answered like unknown ones', async (t) => {
  const answers = async ({ id, versionId }: NewPrompt) => {
    const ids = { promptId: id, promptVersionId: versionId };
    const CALLS: [path: string, call: object][] = [
      [`/id/${id}`, {}],
      [`/id/${id}/rename`, { body: { name: 'x' } }],
      [`/id/${id}/tags`, { method: 'PATCH', body: { tags: [] } }],
      [`/id/${id}/${versionId}/inputs?requestId=x`, {}],
      [`/${id}`, { method: 'DELETE' }],
      [`/${id}/${versionId}`, { method: 'DELETE' }],
      [`/${ours.id}/${versionId}`, { method: 'DELETE' }],
      ['/update', { body: { ...ids, promptBody: {} } }],
      ['/update', { body: { ...ids, promptId: ours.id, promptBody: {} } }],
      ['/update/environment', { body: { ...ids, environment: 'x' } }],
      ['/update/environment', { body: { ...ids, promptId: ours.id, environment: 'x' } }],
      ['/remove/environment', { body: { ...ids, environment: 'production' } }],
      ['/query/versions', { body: { promptId: id } }],
      ['/query/total-versions', { body: { promptId: id } }],
      ['/query/version', { body: { promptVersionId: versionId } }],
      ['/query/environment-version', { body: { promptId: id, environment: 'production' } }],
      ['/query/production-version', { body: { promptId: id } }],
    ];
    const all: unknown[] = [];
    for (const [path, call] of CALLS) {
      const { status, text } = await api.call(`${PATH}${path}`, call);
      all.push(
        [path, status, text].map((one) => String(one).replaceAll(id, 'ID').replaceAll(versionId, 'ID')),
      );
    }
    return all as [string, string, string][];
  };
  const ofTheirs = await answers(theirs);
  t.strictSame(ofTheirs, await answers({ id: NOTHING, versionId: NOTHING }));
  t.ok(ofTheirs.every(([, status]) => status === '404'));
  const shown = await ask<object>(
    api,
    '/v2/prompt-2025/query/version',
    { promptVersionId: theirs.versionId },
    api.other.key,
  );
  t.match(shown, { prompt_body: BODY, environments: ['production', 'theirs'] }, 'and nothing of it changed');
});

t.test('the inputs of a request of another organization are unknown', async (t) => {
  const path = `${PATH}/id/${ours.id}/${ours.versionId}/inputs?requestId=their%20request`;
  const { status, body } = await api.call(path);
  t.strictSame([status, body.error], [404, 'There is no request with the id "their request"']);
});

t.test('an id that cannot be one is answered like an unknown one', async (t) => {
  for (const id of ['x', 'a\0b', '😀', "'; drop table assay.prompts; --", 'x'.repeat(200)]) {
    const { status, body } = await api.call(`${PATH}/query/versions`, { body: { promptId: id } });
    t.equal(status, 404);
    t.match(body.error, /^There is no prompt with the id /);
    t.equal((await api.call(`${PATH}/id/${encodeURIComponent(id)}`)).status, 404);
    t.equal((await api.call(`${PATH}/query/version`, { body: { promptVersionId: id } })).status, 404);
  }
  const upper = await ask<{ id: string }>(api, `${PATH}/id/${ours.id.toUpperCase()}`);
  t.equal(upper.id, ours.id, 'ids are equal ignoring case');
});

t.test(
  'row-level security limits statements on prompts to the organization of their transaction',
  async (t) => {
    const sql = connectAsApi(api.database.url);
    t.teardown(() => sql.end());
    const { organizationId } = api.own;
    const owners = async (tx: TransactionSql, table: string) =>
      (await tx`select distinct organization_id from ${tx(`assay.${table}`)}`).map(
        (row) => row.organization_id,
      );
    for (const table of TABLES) {
      t.strictSame(await owners(sql as never, table), [], `${table}: nothing outside an organization`);
      const seen = await inOrganization(sql, organizationId, (tx) => owners(tx, table));
      t.strictSame(seen, [organizationId], `${table}: its own only`);
    }
    const changed = await inOrganization(sql, organizationId, async (tx) => [
      (await tx`update assay.prompts set name = 'x' where prompt_id = ${theirs.id} returning 1`).length,
      (
        await tx`update assay.prompt_versions set deleted_at = now() where prompt_id = ${theirs.id} returning 1`
      ).length,
      (await tx`delete from assay.prompt_environments where prompt_id = ${theirs.id} returning 1`).length,
    ]);
    t.strictSame(changed, [0, 0, 0]);
    await t.rejects(
      inOrganization(
        sql,
        organizationId,
        (tx) =>
          tx`insert into assay.prompts (organization_id, name) values (${api.other.organizationId}, 'planted')`,
      ),
      { code: '42501' },
    );
    for (const table of ['prompts', 'prompt_versions']) {
      await t.rejects(
        inOrganization(sql, organizationId, (tx) => tx`delete from ${tx(`assay.${table}`)}`),
        { code: '42501' },
        `${table} is never deleted from`,
      );
    }
  },
);

t.test('a key without the needed scope is refused by every route of prompts', async (t) => {
  const [reader, writer] = await Promise.all([
    api.own.keyWith(['read', 'gateway']),
    api.own.keyWith(['write']),
  ]);
  const READS = [
    'query',
    'query/version',
    'query/versions',
    'query/environment-version',
    'query/total-versions',
  ];
  for (const path of READS)
    t.equal((await api.call(`${PATH}/${path}`, { key: writer, raw: '{' })).status, 403, path);
  for (const path of [`id/${ours.id}`, 'tags', 'environments', 'count'])
    t.equal((await api.call(`${PATH}/${path}`, { key: writer })).status, 403, path);
  const WRITES = ['', '/update', '/update/environment', '/remove/environment', `/id/${ours.id}/rename`];
  for (const path of WRITES)
    t.equal((await api.call(`${PATH}${path}`, { key: reader, raw: '{' })).status, 403, path);
  for (const path of [`/${ours.id}`, `/${ours.id}/${ours.versionId}`])
    t.equal((await api.call(`${PATH}${path}`, { key: reader, method: 'DELETE' })).status, 403, path);
  t.equal((await version(api, ours.versionId)).id, ours.versionId, 'and nothing changed');
});
