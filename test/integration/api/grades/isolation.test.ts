/** What another organization, another scope, and an erasure in between can do: nothing. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { inOrganization } from '#platform/postgres/mod.ts';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { connectAsApi } from '../../../support/postgres.ts';
import { BOOLEAN, criterion, grade, gradesOf, requests } from './world.ts';

let api: TestApi;
t.before(async () => {
  api = await startTestApi(t);
});

t.test('criteria and grades of another organization are answered like unknown ones', async (t) => {
  const [request] = await requests(api, 1);
  const id = await criterion(api);
  await grade(api, request!, id, true, { author: 'Ada', comment: 'ours' });
  const answers = async (criterionId: string, requestId: string) => {
    const CALLS: [path: string, call: object][] = [
      [`/v1/criterion/${criterionId}`, {}],
      [`/v1/criterion/${criterionId}`, { method: 'PATCH', body: { name: 'taken over' } }],
      [`/v1/criterion/${criterionId}`, { method: 'DELETE' }],
      [`/v1/criterion/${criterionId}/agreement`, { body: {} }],
      ['/v1/grade/query', { body: { criterionId } }],
      [`/v1/request/${requestId}/grades`, {}],
      [`/v1/request/${requestId}/grade`, { method: 'PUT', body: { criterionId, value: false } }],
      [`/v1/request/${requestId}/grade?criterionId=${criterionId}`, { method: 'DELETE' }],
    ];
    const all: string[][] = [];
    for (const [path, call] of CALLS) {
      const { status, text } = await api.call(path, { ...call, key: api.other.key });
      const plain = [path, String(status), text];
      all.push(plain.map((one) => one.replaceAll(criterionId, 'ID').replaceAll(requestId, 'ID')));
    }
    return all;
  };
  const ofOurs = await answers(id, request!);
  t.strictSame(ofOurs, await answers(randomUUID(), randomUUID()));
  t.ok(ofOurs.every(([, status]) => status === '404'));
  const { body } = await api.call('/v1/grade/query', { body: {}, key: api.other.key });
  t.same(body.data, { grades: [], next: null });
  const theirs = (await api.call('/v1/criterion', {
    body: { name: 'Theirs', kind: BOOLEAN },
    key: api.other.key,
  })) as { body: { data: { id: string } } };
  const planted = { method: 'PUT', body: { criterionId: theirs.body.data.id, value: true } };
  t.equal(
    (await api.call(`/v1/request/${request}/grade`, planted)).status,
    404,
    'their criterion, our request',
  );
  t.match(await gradesOf(api, request!), [{ value: true, comment: 'ours', history: [] }]);
});

t.test(
  'row-level security limits statements on grades to the organization of their transaction',
  async (t) => {
    const [request] = await requests(api, 1);
    await grade(api, request!, await criterion(api), true);
    const sql = connectAsApi(api.database.url);
    t.teardown(() => sql.end());
    for (const table of ['criteria', 'grades']) {
      const count = async (organizationId: string) =>
        (await inOrganization(sql, organizationId, (tx) => tx`select 1 from ${tx(`assay.${table}`)}`)).length;
      t.ok((await count(api.own.organizationId)) > 0);
      const [{ others }] = await inOrganization(
        sql,
        api.other.organizationId,
        (tx) =>
          tx<[{ others: number }]>`
          select count(*)::int4 as others from ${tx(`assay.${table}`)}
          where organization_id <> ${api.other.organizationId}`,
      );
      t.equal(others, 0, table);
    }
    await t.rejects(
      inOrganization(sql, api.other.organizationId, (tx) => tx`delete from assay.criteria`),
      { code: '42501' },
      'criteria are never deleted',
    );
  },
);

t.test('a key without the needed scope is refused by every route of grades', async (t) => {
  const [reader, writer] = [await api.own.keyWith(['read', 'gateway']), await api.own.keyWith(['write'])];
  const id = randomUUID();
  const READS: [string, string][] = [
    ['POST', '/v1/criterion/query'],
    ['GET', `/v1/criterion/${id}`],
    ['POST', `/v1/criterion/${id}/agreement`],
    ['POST', '/v1/grade/query'],
    ['GET', `/v1/request/${id}/grades`],
  ];
  const WRITES: [string, string][] = [
    ['POST', '/v1/criterion'],
    ['PATCH', `/v1/criterion/${id}`],
    ['DELETE', `/v1/criterion/${id}`],
    ['PUT', `/v1/request/${id}/grade`],
    ['DELETE', `/v1/request/${id}/grade`],
  ];
  for (const [routes, key] of [
    [READS, writer],
    [WRITES, reader],
  ] as const)
    for (const [method, path] of routes)
      t.equal((await api.call(path, { method, key })).status, 403, `${method} ${path}`);
});

t.test('a grade that comes while its request is erased does not stay', async (t) => {
  const id = await criterion(api);
  for (const request of await requests(api, 8)) {
    const [graded] = await Promise.all([
      api.call(`/v1/request/${request}/grade`, { method: 'PUT', body: { criterionId: id, value: true } }),
      api.call(`/v1/request/${request}`, { method: 'DELETE' }),
    ]);
    t.ok([200, 404].includes(graded.status));
    const left = await api.database.sql`select 1 from assay.grades where request_id = ${request}`;
    t.equal(left.length, 0);
    t.equal((await api.call(`/v1/request/${request}/grades`)).status, 404);
  }
});

t.test('changes of criteria are in the audit log, and grades are not', async (t) => {
  const [request] = await requests(api, 1);
  const id = await criterion(api);
  await grade(api, request!, id, true);
  await api.call(`/v1/criterion/${id}`, { method: 'PATCH', body: { description: 'New' } });
  await api.call(`/v1/criterion/${id}`, { method: 'DELETE' });
  const rows = await api.database.sql<{ action: string; kind: string; changes: object }[]>`
    select action, target_kind as kind, changes from assay.audit_log where target_id = ${id} order by id`;
  t.match(rows, [
    { action: 'create', kind: 'criterion' },
    { action: 'update', changes: { description: { to: 'New' } } },
    { action: 'archive', changes: { archived_at: { from: null } } },
  ]);
  const [{ kinds }] = await api.database.sql<[{ kinds: string[] }]>`
    select array_agg(distinct target_kind) as kinds from assay.audit_log`;
  t.notOk(kinds.includes('grade'));
});
