import t from 'tap';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { insertRequests } from '../../../support/seed-requests.ts';
import {
  ask,
  BODY,
  create,
  type NewPrompt,
  numberOf,
  PATH,
  type ShownVersion,
  update,
  version,
  versions,
} from './world.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});

const failure = async (path: string, call: object) => {
  const { status, body } = await api.call(`${PATH}${path}`, call);
  return [status, body.error];
};
const remove = (path: string) => api.call(`${PATH}/${path}`, { method: 'DELETE' });
const setTo = (environment: string, { id }: NewPrompt, promptVersionId: string) =>
  ask(api, `${PATH}/update/environment`, { promptId: id, promptVersionId, environment });

t.test('versions count by minor numbers, and by major numbers on request', async (t) => {
  const made = await create(api);
  const minor = await update(api, made, { commitMessage: 'Shorter\nand 😀' });
  const major = await update(api, made, { newMajorVersion: true, promptBody: { model: 'gpt-4o' } });
  await update(api, { ...made, versionId: major });
  const onFirst = await update(api, { ...made, versionId: minor });
  await update(api, { ...made, versionId: onFirst }, { newMajorVersion: true });
  const all = await versions(api, made.id);
  t.same(all.map(numberOf), ['3.0', '2.1', '2.0', '1.2', '1.1', '1.0']);
  t.equal(all[4]!.commit_message, 'Shorter\nand 😀');
  t.equal(all[2]!.model, 'gpt-4o');
  t.notOk('prompt_body' in all[0]!, 'lists have no bodies');
  t.same((await versions(api, made.id, { majorVersion: 1 })).map(numberOf), ['1.2', '1.1', '1.0']);
  t.same((await versions(api, made.id, { majorVersion: 4 })).map(numberOf), []);
  t.same((await versions(api, made.id, { offset: 1, limit: 2 })).map(numberOf), ['2.1', '2.0']);
  t.same(await ask(api, `${PATH}/query/total-versions`, { promptId: made.id }), {
    totalVersions: 6,
    majorVersions: 3,
  });
});

t.test('the number of a deleted version is not used again', async (t) => {
  const made = await create(api);
  const second = await update(api, made);
  const major = await update(api, made, { newMajorVersion: true });
  for (const id of [second, major]) t.equal((await remove(`${made.id}/${id}`)).status, 200);
  const numbers = [await update(api, made), await update(api, made, { newMajorVersion: true })];
  t.same(await Promise.all(numbers.map(async (id) => numberOf(await version(api, id)))), ['1.2', '3.0']);
  t.same(
    await failure('/query/version', { body: { promptVersionId: second } }),
    [404, `There is no prompt version with the id "${second}"`],
    'and the version itself is unknown',
  );
  t.same(await failure('/update', { body: { promptId: made.id, promptVersionId: second, promptBody: {} } }), [
    404,
    `The prompt ${made.id} has no version with the id "${second}"`,
  ]);
});

t.test('an environment names one version, and follows an update that names it', async (t) => {
  const made = await create(api);
  const second = await update(api, made, { environment: 'production' });
  t.same((await version(api, made.versionId)).environments, [], 'production has moved');
  t.same((await version(api, second)).environments, ['production']);
  await setTo('staging', made, second);
  await setTo('staging', made, made.versionId);
  t.same((await version(api, second)).environments, ['production']);
  const of = (environment: string) =>
    ask<ShownVersion>(api, `${PATH}/query/environment-version`, { promptId: made.id, environment });
  t.equal((await of('staging')).id, made.versionId);
  t.equal((await of('production')).id, second);
  t.match(await ask(api, `${PATH}/query/production-version`, { promptId: made.id }), {
    id: second,
    prompt_body: BODY,
  });
  t.ok((await ask<string[]>(api, `${PATH}/environments`)).includes('staging'));
});

t.test('an environment is removed from the version that it names, and from no other', async (t) => {
  const made = await create(api);
  const second = await update(api, made, { environment: 'beta 2' });
  const from = (promptVersionId: string) => ({
    body: { promptId: made.id, promptVersionId, environment: 'beta 2' },
  });
  t.same(await failure('/remove/environment', from(made.versionId)), [
    404,
    'Version 1.0 is not that of the environment "beta 2"',
  ]);
  t.same(await failure('/remove/environment', from(second)), [200, null]);
  t.same(await failure('/remove/environment', from(second)), [
    404,
    'Version 1.1 is not that of the environment "beta 2"',
  ]);
  t.same(
    await failure('/query/environment-version', { body: { promptId: made.id, environment: 'beta 2' } }),
    [404, `The prompt ${made.id} has no environment "beta 2"; it has "production"`],
  );
});

t.test('a version that an environment names cannot be deleted, nor the last version', async (t) => {
  const made = await create(api, { environment: 'staging' });
  const second = await update(api, made);
  const path = `/${made.id}/${made.versionId}`;
  t.same(await failure(path, { method: 'DELETE' }), [
    409,
    'Version 1.0 cannot be deleted while it is that of the environments "production", "staging": set another version there, or remove it from there',
  ]);
  await setTo('staging', made, second);
  t.same(await failure(path, { method: 'DELETE' }), [
    409,
    'Version 1.0 cannot be deleted while it is that of the environment "production": set another version there, or remove it from there',
  ]);
  await setTo('production', made, second);
  t.same(await failure(path, { method: 'DELETE' }), [200, null]);
  for (const environment of ['production', 'staging']) {
    await ask(api, `${PATH}/remove/environment`, {
      promptId: made.id,
      promptVersionId: second,
      environment,
    });
  }
  t.same(await failure(`/${made.id}/${second}`, { method: 'DELETE' }), [
    409,
    `Version 1.1 is the last one and cannot be deleted: delete the prompt ${made.id}`,
  ]);
});

t.test('a prompt has at most 20 environments, which can all be moved', async (t) => {
  const made = await create(api);
  for (let index = 1; index < 20; index += 1) await setTo(`e${index}`, made, made.versionId);
  const body = { promptId: made.id, promptVersionId: made.versionId, environment: 'one more' };
  const full = [409, 'A prompt can have at most 20 environments'];
  t.same(await failure('/update/environment', { body }), full);
  t.same(await failure('/update', { body: { ...body, promptBody: {} } }), full);
  t.same((await versions(api, made.id)).length, 1, 'the version of the refused update is not stored');
  t.ok(await update(api, made, { environment: 'e19' }));
});

t.test('a version of one prompt is unknown in another', async (t) => {
  const [one, other] = [await create(api), await create(api)];
  const ids = { promptId: one.id, promptVersionId: other.versionId };
  const unknown = [404, `The prompt ${one.id} has no version with the id "${other.versionId}"`];
  t.same(await failure('/update', { body: { ...ids, promptBody: {} } }), unknown);
  t.same(await failure('/update/environment', { body: { ...ids, environment: 'x' } }), unknown);
  t.same(await failure('/remove/environment', { body: { ...ids, environment: 'production' } }), unknown);
  t.same(await failure(`/${one.id}/${other.versionId}`, { method: 'DELETE' }), unknown);
  t.same(await failure(`/id/${one.id}/${other.versionId}/inputs?requestId=x`, {}), unknown);
  t.same((await version(api, other.versionId)).environments, ['production']);
});

t.test('no statement can change a version, except by deleting it', async (t) => {
  const { versionId } = await create(api);
  const { sql } = api.database;
  const CHANGES = [
    `body = '{"model":"another"}'`,
    'minor = 7',
    `commit_message = 'another'`,
    'deleted_at = now(), minor = 7',
  ];
  for (const change of CHANGES) {
    await t.rejects(
      sql.unsafe(`update assay.prompt_versions set ${change} where version_id = $1`, [versionId]),
      { message: 'A version of a prompt never changes' },
      change,
    );
  }
  t.match(await version(api, versionId), { prompt_body: BODY, minor_version: 0 });
});

t.test('the inputs of a request are those that it filled this version with', async (t) => {
  const made = await create(api);
  const second = await update(api, made);
  const of = { prompt_id: made.id, inputs: { name: 'Ada', age: 36, tags: ['a'], odd: '😀\\' } };
  await insertRequests(api.database.sql, api.own.organizationId, [
    { ...of, request_id: 'by id', prompt_version: made.versionId },
    { ...of, request_id: 'by number', prompt_version: '1.0' },
    { request_id: 'without inputs', prompt_id: made.id, prompt_version: '1.0' },
    { request_id: 'of none' },
  ]);
  const inputsOf = (versionId: string, requestId: string) =>
    api.call(`${PATH}/id/${made.id}/${versionId}/inputs?requestId=${encodeURIComponent(requestId)}`);
  for (const request_id of ['by id', 'by number']) {
    const { status, body } = await inputsOf(made.versionId, request_id);
    t.strictSame([status, body.data], [200, { request_id, version_id: made.versionId, inputs: of.inputs }]);
  }
  t.same((await inputsOf(made.versionId, 'without inputs')).body.data, {
    request_id: 'without inputs',
    version_id: made.versionId,
    inputs: {},
  });
  const notUsed = (number: string, id: string) => ({
    data: null,
    error: `The request "${id}" did not use version ${number} of the prompt ${made.id}`,
  });
  t.strictSame((await inputsOf(second, 'by id')).body, notUsed('1.1', 'by id'));
  t.strictSame((await inputsOf(made.versionId, 'of none')).body, notUsed('1.0', 'of none'));
  const unknown = await inputsOf(made.versionId, 'nobody\0');
  t.strictSame(
    [unknown.status, unknown.body.error],
    [404, 'There is no request with the id "nobody\\u0000"'],
  );
});
