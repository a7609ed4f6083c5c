import t from 'tap';
import { inOrganization } from '#platform/postgres/mod.ts';
import type { CallOptions } from '../../../support/api.ts';
import {
  BOOLEAN,
  CODE,
  type EvaluatorApi,
  EXTERNAL,
  startEvaluatorApi,
} from '../../../support/evaluators-process.ts';
import { connectAsApi } from '../../../support/postgres.ts';
import { insertEvaluations } from './seed-evaluations.ts';

let api: EvaluatorApi;
/** Ids of the other organization. */
let theirs: { evaluator: string; online: string; run: string; evaluation: string };
t.before(async () => {
  api = await startEvaluatorApi(t);
  const { key, organizationId } = api.other;
  const make = async (path: string, body: unknown) =>
    ((await api.call(path, { key, body })).body.data as { id: string }).id;
  const evaluator = await make('/v1/evaluator', { name: 'Theirs', ...EXTERNAL });
  const online = await make(`/v1/evaluator/${evaluator}/onlineEvaluators`, { config: { sampleRate: 50 } });
  const run = await make(`/v1/evaluator/${evaluator}/run`, { filter: 'all' });
  const [evaluation] = await insertEvaluations(
    api,
    [{ evaluator_id: evaluator, state: 'error', request_id: 'theirs' }],
    organizationId,
  );
  theirs = { evaluator, online, run, evaluation: evaluation! };
});

type Ids = typeof theirs;
const testInput = { inputBody: {}, outputBody: {} };

/** Every route: its method, path, body and scope. */
function routes({ evaluator, online, run, evaluation }: Ids): [string, string, unknown, 'read' | 'write'][] {
  const one = `/v1/evaluator/${evaluator}`;
  const llmTemplate = BOOLEAN.llm_template;
  const evaluatorConfig = {
    evaluator_scoring_type: 'LLM-BOOLEAN',
    evaluator_llm_template: llmTemplate,
  };
  return [
    ['POST', '/v1/evaluator/', { name: 'Ours', ...BOOLEAN }, 'write'],
    ['POST', '/v1/evaluator/query', {}, 'read'],
    ['POST', '/v1/evaluator/llm/test', { evaluatorConfig, testInput }, 'write'],
    ['POST', '/v1/evaluator/python/test', { code: CODE, testInput }, 'write'],
    [
      'POST',
      '/v1/evaluator/external/test',
      { external_config: EXTERNAL.external_config, testInput },
      'write',
    ],
    ['GET', one, undefined, 'read'],
    ['PUT', one, { name: 'Taken over' }, 'write'],
    ['POST', `${one}/resume`, undefined, 'write'],
    ['GET', `${one}/stats`, undefined, 'read'],
    ['POST', `${one}/onlineEvaluators`, { config: { sampleRate: 1 } }, 'write'],
    ['GET', `${one}/onlineEvaluators`, undefined, 'read'],
    ['PATCH', `${one}/onlineEvaluators/${online}`, { config: { sampleRate: 1 } }, 'write'],
    ['DELETE', `${one}/onlineEvaluators/${online}`, undefined, 'write'],
    ['POST', `${one}/run`, { filter: 'all' }, 'write'],
    ['POST', `${one}/run`, { filter: 'all', dryRun: true }, 'write'],
    ['GET', `${one}/runs`, undefined, 'read'],
    ['GET', `${one}/run/${run}`, undefined, 'read'],
    ['POST', `${one}/run/${run}/pause`, undefined, 'write'],
    ['POST', `${one}/run/${run}/resume`, undefined, 'write'],
    ['POST', `${one}/run/${run}/cancel`, undefined, 'write'],
    ['DELETE', one, undefined, 'write'],
    ['POST', '/v1/evaluation/query', {}, 'read'],
    ['GET', `/v1/evaluation/${evaluation}`, undefined, 'read'],
    ['POST', `/v1/evaluation/${evaluation}/retry`, undefined, 'write'],
    ['POST', `/v1/evaluation/${evaluation}/cancel`, undefined, 'write'],
  ];
}

const call = (method: string, path: string, body: unknown, options: CallOptions = {}) =>
  api.call(path, { method, ...(body === undefined ? {} : { body }), ...options });

const NOBODY: Ids = {
  evaluator: '00000000-0000-4000-8000-000000000000',
  online: '00000000-0000-4000-8000-000000000001',
  run: '00000000-0000-4000-8000-000000000002',
  evaluation: '999999999',
};

t.test(
  'evaluator ids of another organization are answered like unknown ones, and change nothing',
  async (t) => {
    const { sql } = api.database;
    const stateOf = async () => [
      await sql`select * from assay.evaluators where organization_id = ${api.other.organizationId}`,
      await sql`select * from assay.online_evaluators where organization_id = ${api.other.organizationId}`,
      await sql`select * from assay.evaluation_runs where organization_id = ${api.other.organizationId}`,
      await sql`select * from assay.evaluations where organization_id = ${api.other.organizationId}`,
    ];
    const before = JSON.stringify(await stateOf());
    const foreign = routes(theirs);
    const unknown = routes(NOBODY);
    for (const [index, [method, path, body]] of foreign.entries()) {
      if (path === unknown[index]![1]) continue;
      const [answer, expected] = [
        await call(method, path, body),
        await call(method, unknown[index]![1], body),
      ];
      const hide = (text: string, ids: Ids) =>
        Object.entries(ids).reduce((left, [name, id]) => left.replaceAll(id, name), text);
      t.equal(answer.status, 404, `${method} ${path}`);
      t.strictSame(
        [answer.status, hide(answer.text, theirs)],
        [expected.status, hide(expected.text, NOBODY)],
      );
    }
    t.equal(JSON.stringify(await stateOf()), before);
    t.strictSame(await api.make('/v1/evaluator/query', {}), []);
    t.strictSame(await api.make('/v1/evaluation/query', {}), []);
    t.strictSame(await api.make('/v1/evaluation/query', { evaluatorId: theirs.evaluator }), []);
    t.strictSame(await api.make('/v1/evaluation/query', { requestId: 'theirs' }), []);
  },
);

t.test('runs and online evaluators are found under their own evaluator alone', async (t) => {
  const one = await api.make('/v1/evaluator', { name: 'One', ...BOOLEAN });
  const two = await api.make('/v1/evaluator', { name: 'Two', ...BOOLEAN });
  const run = await api.make(`/v1/evaluator/${one.id}/run`, { filter: 'all' });
  const online = await api.make(`/v1/evaluator/${one.id}/onlineEvaluators`, { config: { sampleRate: 1 } });
  for (const [method, path, body] of [
    ['GET', `run/${run.id}`],
    ['POST', `run/${run.id}/cancel`],
    ['PATCH', `onlineEvaluators/${online.id}`, { config: { sampleRate: 2 } }],
    ['DELETE', `onlineEvaluators/${online.id}`],
  ] as const) {
    t.equal((await call(method, `/v1/evaluator/${two.id}/${path}`, body)).status, 404, path);
  }
  t.match(await api.make(`/v1/evaluator/${one.id}/run/${run.id}`), { state: 'running' });
});

t.test('malformed evaluator ids are answered as unknown', async (t) => {
  for (const id of ['x', '1', `${NOBODY.evaluator}0`, "'; drop table x", 'a\u0000b', '😀']) {
    const path = `/v1/evaluator/${encodeURIComponent(id)}`;
    for (const [method, inner, body] of [
      ['GET', '', undefined],
      ['PUT', '', { name: 'x' }],
      ['DELETE', '', undefined],
      ['GET', '/stats', undefined],
      ['GET', '/run/x', undefined],
    ] as const) {
      t.equal((await call(method, `${path}${inner}`, body)).status, 404, `${method} ${id} ${inner}`);
    }
  }
  for (const id of ['x', '0', '-1', '1.5', '9'.repeat(30), NOBODY.evaluator]) {
    t.equal((await call('GET', `/v1/evaluation/${id}`, undefined)).status, 404, id);
    t.equal((await call('POST', `/v1/evaluation/${id}/retry`, undefined)).status, 404, id);
  }
});

t.test('each evaluator route requires its scope before the body is read', async (t) => {
  const keys = { read: await api.own.keyWith(['read']), write: await api.own.keyWith(['write']) };
  for (const [method, path, body, scope] of routes(NOBODY)) {
    const without = keys[scope === 'read' ? 'write' : 'read'];
    const raw = body === undefined ? {} : { raw: '{' };
    const lacking = await call(method, path, undefined, { key: without, ...raw });
    t.strictSame(
      [lacking.status, lacking.body.error],
      [403, `This API key lacks the scope ${scope}, which this call needs`],
      `${method} ${path}`,
    );
    const anonymous = await call(method, path, undefined, { key: null, ...raw });
    t.equal(anonymous.status, 401, `${method} ${path}`);
    t.equal(anonymous.headers.get('www-authenticate'), 'Bearer');
  }
});

t.test('another method on an evaluator route is a 405 that lists the allowed ones', async (t) => {
  const id = NOBODY.evaluator;
  const CASES: [string, string, string][] = [
    ['DELETE', '/v1/evaluator/', 'GET, POST'],
    ['PATCH', '/v1/evaluator', 'GET, POST'],
    ['POST', `/v1/evaluator/${id}`, 'GET, PUT, DELETE'],
    ['GET', '/v1/evaluator/query', 'POST'],
    ['PUT', `/v1/evaluator/${id}/onlineEvaluators`, 'POST, GET'],
    ['GET', `/v1/evaluator/${id}/onlineEvaluators/${id}`, 'PATCH, DELETE'],
    ['DELETE', `/v1/evaluator/${id}/run/${id}`, 'GET'],
    ['GET', `/v1/evaluation/1/retry`, 'POST'],
  ];
  for (const [method, path, allow] of CASES) {
    const answer = await call(method, path, undefined);
    t.strictSame(
      [answer.status, answer.headers.get('allow'), answer.body.error],
      [405, allow, `${method} is not allowed here; use ${allow.replaceAll(', ', ' or ')}`],
      `${method} ${path}`,
    );
  }
});

t.test(
  'evaluator routes refuse bodies that are not JSON, of another content type, or too large',
  async (t) => {
    for (const [method, path, body] of routes(NOBODY)) {
      if (body === undefined) continue;
      t.equal((await call(method, path, undefined, { raw: '{' })).status, 400, path);
      t.equal(
        (await call(method, path, undefined, { raw: '{}', contentType: 'text/plain' })).status,
        415,
        path,
      );
      const large = JSON.stringify({ name: 'x'.repeat(1024 * 1024) });
      t.equal((await call(method, path, undefined, { raw: large })).status, 413, path);
      t.equal((await call(method, path, undefined, { raw: '{"name":1,"name":2}' })).status, 400, path);
      const answer = await call(method, path, { unexpected: 1 });
      t.ok(answer.status === 400 || answer.status === 404, path);
    }
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    for (const raw of [
      `{"name":"Deep","scoring_type":"LLM-CHOICE","llm_template":{"model":"m","prompt":"p","choices":${deep}}}`,
      `{"name":"Deep","scoring_type":"LLM-BOOLEAN","llm_template":${deep}}`,
      `{"name":"Deep","scoring_type":"EXTERNAL","external_config":${deep}}`,
    ]) {
      t.equal((await call('POST', '/v1/evaluator', undefined, { raw })).status, 400);
    }
    const test = `{"code":"x","testInput":{"inputBody":${deep},"outputBody":{}}}`;
    const answer = await call('POST', '/v1/evaluator/python/test', undefined, { raw: test });
    t.ok(answer.status === 200 || answer.status === 400, `${answer.status}`);
  },
);

t.test(
  'row-level security limits statements on evaluators to the organization of their transaction',
  async (t) => {
    const sql = connectAsApi(api.database.url);
    t.teardown(() => sql.end());
    const TABLES = [
      'evaluators',
      'evaluator_versions',
      'online_evaluators',
      'evaluation_runs',
      'evaluations',
    ];
    for (const table of TABLES) {
      t.equal((await sql`select 1 from ${sql(`assay.${table}`)}`).length, 0, `${table}: nothing outside`);
      const seen = await inOrganization(
        sql,
        api.own.organizationId,
        (tx) => tx`select 1 from ${tx(`assay.${table}`)} where organization_id = ${api.other.organizationId}`,
      );
      t.equal(seen.length, 0, table);
    }
    const changed = await inOrganization(sql, api.own.organizationId, async (tx) => [
      (await tx`update assay.evaluators set name = 'x' where evaluator_id = ${theirs.evaluator} returning 1`)
        .length,
      (await tx`update assay.evaluations set state = 'pending' where request_id = 'theirs' returning 1`)
        .length,
      (
        await tx`update assay.online_evaluators set sample_rate = 0 where online_id = ${theirs.online} returning 1`
      ).length,
      (await tx`delete from assay.online_evaluators where online_id = ${theirs.online} returning 1`).length,
    ]);
    t.strictSame(changed, [0, 0, 0, 0]);
    const closed = (statement: string) =>
      t.rejects(
        inOrganization(sql, api.own.organizationId, (tx) => tx.unsafe(statement)),
        { code: '42501' },
        statement,
      );
    await closed("update assay.evaluator_versions set code_template = '{}'");
    await closed('delete from assay.evaluations');
    await closed('update assay.evaluations set score = 1');
    await closed('select * from assay.internal_secrets');
  },
);
