import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { ask, BODY, create, type NewPrompt, PATH, update, version, versions } from './world.ts';

type ShownPrompt = { id: string; name: string; tags: string[]; created_at: string };

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});

const query = (body: object) => ask<ShownPrompt[]>(api, `${PATH}/query`, body);
const remove = (path: string) => api.call(`${PATH}/${path}`, { method: 'DELETE' });

t.test('an organization without prompts gets empty lists', async (t) => {
  t.same(await query({}), []);
  t.same(await ask(api, `${PATH}/tags`), []);
  t.same(await ask(api, `${PATH}/environments`), []);
  t.equal(await ask(api, `${PATH}/count`), 0);
});

t.test('a new prompt has the version 1.0, which is that of production', async (t) => {
  const before = Date.now();
  const { id, versionId } = await create(api, {
    name: 'Support',
    tags: ['chat', ' chat ', '', 'first-line'],
  });
  const shown = await ask<ShownPrompt>(api, `${PATH}/id/${id}`);
  t.match(shown, { id, name: 'Support', tags: ['chat', 'first-line'] });
  t.ok(Date.parse(shown.created_at) >= before && Date.parse(shown.created_at) <= Date.now());
  const { created_at, ...first } = await version(api, versionId);
  t.same(first, {
    id: versionId,
    model: 'gpt-4o-mini',
    prompt_id: id,
    major_version: 1,
    minor_version: 0,
    commit_message: 'First version.',
    environments: ['production'],
    variables: [{ name: 'name', type: null }],
    prompt_body: BODY,
    s3_url: `data:application/json;base64,${Buffer.from(JSON.stringify(BODY)).toString('base64')}`,
  });
  t.equal(created_at, shown.created_at);
  const [row] = await api.database.sql`
    select v.created_by, k.key_id from assay.prompt_versions v join assay.api_keys k on k.key_id = v.created_by
    where v.version_id = ${versionId}`;
  t.ok(row, 'the version knows the API key that it was made with');
});

t.test('a prompt that is created with an environment is that of production, too', async (t) => {
  const { versionId } = await create(api, { environment: 'staging' });
  t.same((await version(api, versionId)).environments, ['production', 'staging']);
});

t.test('the name of a prompt is unique until the prompt is deleted', async (t) => {
  const { id } = await create(api, { name: 'Taken' });
  const { id: otherId } = await create(api, { name: 'Other' });
  const again = await api.call(PATH, { body: { name: 'Taken', tags: [], promptBody: {} } });
  const error = `There is a prompt named "Taken" already: ${id}`;
  t.strictSame([again.status, again.body], [409, { data: null, error }]);
  const renamed = await api.call(`${PATH}/id/${otherId}/rename`, { body: { name: 'Taken' } });
  t.strictSame([renamed.status, renamed.body], [409, { data: null, error }]);
  t.equal(await ask(api, `${PATH}/id/${id}/rename`, { name: 'Taken' }), null, 'its own name is no conflict');
  t.equal((await remove(id)).status, 200);
  t.equal(await ask(api, `${PATH}/id/${otherId}/rename`, { name: 'Taken' }), null);
  t.equal((await ask<ShownPrompt>(api, `${PATH}/id/${otherId}`)).name, 'Taken');
});

t.test('tags are set as a whole, and listed once for all prompts', async (t) => {
  const { id } = await create(api, { tags: ['old'] });
  const setTo = async (tags: string[]) =>
    (await api.call(`${PATH}/id/${id}/tags`, { method: 'PATCH', body: { tags } })).body.data;
  t.same(await setTo(['zebra', 'ä', ' zebra', 'Zebra']), ['zebra', 'ä', 'Zebra']);
  await create(api, { tags: ['zebra'] });
  const tags = await ask<string[]>(api, `${PATH}/tags`);
  t.same(
    tags.filter((tag) => /zebra|ä|old/i.test(tag)),
    ['Zebra', 'zebra', 'ä'],
  );
  t.same(await setTo([]), []);
  t.same((await ask<ShownPrompt>(api, `${PATH}/id/${id}`)).tags, []);
});

t.test('a search finds a part of a name in any case, with %, _ and \\ as themselves', async (t) => {
  const NAMES = ['Refund 100% ÄRGER', 'Refund 100 ärgerlich', 'snake_case', 'snakeXcase', 'back\\slash'];
  for (const name of NAMES) await create(api, { name: `search ${name}` });
  const found = async (search: string) =>
    (await query({ search, tagsFilter: [], page: 0, pageSize: 10 })).map(({ name }) => name.slice(7)).sort();
  t.same(await found('refund'), ['Refund 100 ärgerlich', 'Refund 100% ÄRGER']);
  t.same(await found('ärger'), ['Refund 100 ärgerlich', 'Refund 100% ÄRGER']);
  t.same(await found('100%'), ['Refund 100% ÄRGER']);
  t.same(await found('snake_'), ['snake_case']);
  t.same(await found('back\\'), ['back\\slash']);
  t.same(await found('x'.repeat(1_000)), []);
  t.same(await found('\0'), []);
});

t.test('a query pages through the prompts with any of the tags, the newest first', async (t) => {
  const ids: string[] = [];
  for (let index = 0; index < 5; index += 1) {
    ids.unshift((await create(api, { tags: index % 2 === 0 ? ['paged', 'even'] : ['paged'] })).id);
  }
  // Equal times: the order is that of the ids.
  await api.database.sql`update assay.prompts set created_at = '2026-01-01' where 'paged' = any(tags)`;
  const page = async (rest: object) => (await query({ tagsFilter: ['paged'], ...rest })).map(({ id }) => id);
  const all = await page({});
  t.same(all.toSorted(), ids.toSorted());
  t.same(
    [
      ...(await page({ page: 0, pageSize: 2 })),
      ...(await page({ page: 1, pageSize: 2 })),
      ...(await page({ page: 2, pageSize: 2 })),
    ],
    all,
    'pages neither overlap nor skip',
  );
  t.same(await page({ page: 3, pageSize: 2 }), []);
  t.same(await page({ page: Number.MAX_SAFE_INTEGER, pageSize: 100 }), [], 'there is no last page');
  t.equal((await query({ tagsFilter: [' even ', 'of no prompt'] })).length, 3);
  t.same(await query({ tagsFilter: [''] }), [], 'no prompt has an empty tag');
});

t.test('a deleted prompt is unknown everywhere, and its content is gone', async (t) => {
  const count = await ask<number>(api, `${PATH}/count`);
  const made = await create(api, { tags: ['of the deleted'], environment: 'of the deleted' });
  await update(api, made);
  t.equal(await ask(api, `${PATH}/count`), count + 1);
  t.strictSame((await remove(made.id)).body, { data: null, error: null });
  t.equal(await ask(api, `${PATH}/count`), count);
  await expectUnknown(made);
  t.notOk((await ask<string[]>(api, `${PATH}/tags`)).includes('of the deleted'));
  t.notOk((await ask<string[]>(api, `${PATH}/environments`)).includes('of the deleted'));
  const rows = await api.database.sql`
    select major, minor, body, variables, commit_message from assay.prompt_versions
    where prompt_id = ${made.id} order by minor`;
  const gone = { major: 1, body: '{}', variables: '[]', commit_message: '' };
  t.strictSame(
    rows.map((row) => ({ ...row })),
    [
      { ...gone, minor: 0 },
      { ...gone, minor: 1 },
    ],
  );

  async function expectUnknown({ id, versionId }: NewPrompt) {
    const ids = { promptId: id, promptVersionId: versionId };
    const CALLS: [path: string, call: object][] = [
      [`/id/${id}`, {}],
      [`/id/${id}/rename`, { body: { name: 'x' } }],
      [`/id/${id}/tags`, { method: 'PATCH', body: { tags: [] } }],
      [`/id/${id}/${versionId}/inputs?requestId=x`, {}],
      [`/${id}`, { method: 'DELETE' }],
      [`/${id}/${versionId}`, { method: 'DELETE' }],
      ['/update', { body: { ...ids, promptBody: {} } }],
      ['/update/environment', { body: { ...ids, environment: 'x' } }],
      ['/remove/environment', { body: { ...ids, environment: 'production' } }],
      ['/query/versions', { body: { promptId: id } }],
      ['/query/total-versions', { body: { promptId: id } }],
      ['/query/version', { body: { promptVersionId: versionId } }],
      ['/query/environment-version', { body: { promptId: id, environment: 'production' } }],
      ['/query/production-version', { body: { promptId: id } }],
    ];
    for (const [path, call] of CALLS) t.equal((await api.call(`${PATH}${path}`, call)).status, 404, path);
  }
});

t.test('an organization has at most 10,000 prompts', async (t) => {
  const { organizationId, keyWith } = api.other;
  const key = await keyWith(['write']);
  await api.database.sql`
    insert into assay.prompts (organization_id, name)
    select ${organizationId}, 'filler ' || n from generate_series(1, 10000) n`;
  const answer = await api.call(PATH, { key, body: { name: 'one more', promptBody: {} } });
  t.strictSame([answer.status, answer.body.error], [409, 'An organization can have at most 10000 prompts']);
  t.same(await versions(api, (await create(api)).id).then((all) => all.length), 1, 'others go on');
});
