/** Changes of one prompt by two processes at once. */
import t from 'tap';
import { type Answer, type CallOptions, startTestApi, type TestApi } from '../../../support/api.ts';
import { createWorld } from '../../../support/world.ts';
import { ask, create, numberOf, PATH, type ShownVersion, update, version, versions } from './world.ts';

let api: TestApi;
/** The same, by another process with connections of its own. */
let second: TestApi;
t.before(async () => {
  api = await startTestApi(t);
  const { url } = await (await createWorld(t, api.database)).start('api');
  second = { ...api, url, call: (path, options) => callAt(url, path, options) };
});

async function callAt(url: string, path: string, { method, body }: CallOptions = {}): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method: method ?? 'POST',
    headers: { authorization: `Bearer ${api.own.key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}

/** Runs `work` so many times at once, by both processes in turn. */
function inTurn<T>(count: number, work: (process: TestApi, index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) => work(index % 2 === 0 ? api : second, index)),
  );
}

t.test('20 updates at once from two processes make 20 numbers without a gap', async (t) => {
  const made = await create(api);
  await inTurn(20, (process, index) => update(process, made, { newMajorVersion: index % 4 === 3 }));
  const found = (await versions(api, made.id)).map(numberOf).toSorted();
  const minors = Array.from({ length: 16 }, (_, index) => `1.${index}`);
  const majors = Array.from({ length: 5 }, (_, index) => `${index + 2}.0`);
  t.same(found, [...minors, ...majors].toSorted());
});

t.test('of ten prompts of one name at once from two processes, one is stored', async (t) => {
  const body = { name: 'Wanted by ten', tags: [], promptBody: {} };
  const statuses = await inTurn(10, async (process) => (await process.call(PATH, { body })).status);
  t.same(statuses.toSorted(), [200, ...Array(9).fill(409)]);
  const renamed = await Promise.all(
    (await inTurn(6, (process) => create(process))).map(({ id }) =>
      api.call(`${PATH}/id/${id}/rename`, { body: { name: 'Wanted by six' } }),
    ),
  );
  t.same(renamed.map(({ status }) => status).toSorted(), [200, 409, 409, 409, 409, 409]);
});

t.test('an environment names one version, however many set it at once', async (t) => {
  const made = await create(api);
  const ids = await inTurn(10, (process) => update(process, made, { environment: 'staging' }));
  const named = (await versions(api, made.id)).filter(({ environments }) => environments.includes('staging'));
  t.equal(named.length, 1);
  t.ok(ids.includes(named[0]!.id));
});

t.test('a version is never both deleted and that of an environment', async (t) => {
  for (let round = 0; round < 8; round += 1) {
    const made = await create(api);
    const id = await update(api, made);
    const named = { promptId: made.id, promptVersionId: id, environment: 'staging' };
    const [set, removed] = await inTurn(2, async (process, index) => {
      if (index === round % 2)
        return (await process.call(`${PATH}/update/environment`, { body: named })).status;
      return (await process.call(`${PATH}/${made.id}/${id}`, { method: 'DELETE' })).status;
    }).then((both) => (round % 2 === 0 ? both : both.toReversed()));
    t.ok((set === 200 && removed === 409) || (set === 404 && removed === 200), `${set} ${removed}`);
    const query = { promptId: made.id, environment: 'staging' };
    const found = await api.call(`${PATH}/query/environment-version`, { body: query });
    t.equal(found.status, set === 200 ? 200 : 404);
  }
});

t.test('a prompt that is deleted while it is updated keeps no version', async (t) => {
  const made = await create(api);
  const results = await inTurn(9, async (process, index) => {
    if (index === 4) return (await process.call(`${PATH}/${made.id}`, { method: 'DELETE' })).status;
    const body = {
      promptId: made.id,
      promptVersionId: made.versionId,
      promptBody: {},
      environment: 'staging',
    };
    return (await process.call(`${PATH}/update`, { body })).status;
  });
  t.ok(results.every((status) => status === 200 || status === 404));
  const [left] = await api.database.sql<{ versions: number; environments: number }[]>`
    select
      (select count(*)::int4 from assay.prompt_versions
       where prompt_id = ${made.id} and deleted_at is null) as versions,
      (select count(*)::int4 from assay.prompt_environments where prompt_id = ${made.id}) as environments`;
  t.strictSame({ ...left }, { versions: 0, environments: 0 });
});

t.test('a version is seen by the other process as soon as its update was answered', async (t) => {
  const made = await create(api);
  const id = await update(api, made, { environment: 'production' });
  const body = { promptId: made.id };
  const found = await ask<ShownVersion>(second, `${PATH}/query/production-version`, body);
  t.equal(found.id, id);
  t.equal(found.created_at, (await version(api, id)).created_at);
});
