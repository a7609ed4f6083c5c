/** Facets: the values of a field with their counts, from rows and from roll-ups. */
import t, { type Test } from 'tap';
import { applyAllChanges, recomputeAll, registerRollups } from '../../../support/rollups.ts';
import { MARCH, startMarch } from './march.ts';

const { api, ask, facets } = await startMarch(t);

const USERS = [
  { value: 'ann', count: 2 },
  { value: null, count: 2 },
  { value: 'bob', count: 1 },
];
const MODELS = [
  { value: 'a', count: 2 },
  { value: 'b', count: 2 },
  { value: '100%_a', count: 1 },
];

async function checkFacets(t: Test, source: 'rows' | 'rollup'): Promise<void> {
  t.same((await facets({ field: 'model' })).values, MODELS);
  t.match(await facets({ field: 'model' }), { approximate: false, source });
  t.same((await facets({ field: 'model', limit: 1 })).values, MODELS.slice(0, 1));
  t.same((await facets({ field: 'model', search: 'A' })).values, [MODELS[0], MODELS[2]]);
  t.same((await facets({ field: 'model', search: '0%_' })).values, [MODELS[2]], 'search is literal');
  t.same((await facets({ field: 'status', range: { from: '2026-03-01', to: '2026-03-02' } })).values, [
    { value: 200, count: 1 },
    { value: 500, count: 1 },
  ]);
  t.same((await facets({ field: 'model', filter: { response: { status: { gte: 500 } } } })).values, [
    { value: 'a', count: 1 },
  ]);
  const ofModel = { request: { model_used: { equals: 'a' } } };
  t.match(await facets({ field: 'model', filter: ofModel }), { values: [{ value: 'a', count: 2 }], source });
  const ofNoKey = { request: { api_key_id: { equals: null } } };
  t.match(await facets({ field: 'api_key', filter: ofNoKey }), {
    values: [{ value: null, count: 5 }],
    source,
  });
  const ofGateway = { request: { source: { equals: 'gateway' } } };
  t.match(await facets({ field: 'source', filter: ofGateway }), {
    values: [{ value: 'gateway', count: 5 }],
    source,
  });
  const ofJudges = { q: 'source:evaluator' };
  t.same((await facets({ field: 'source', ...ofJudges })).values, [], 'sources leaves them out');
  t.match(await facets({ field: 'source', ...ofJudges, sources: ['gateway', 'evaluator'] }), {
    values: [{ value: 'evaluator', count: 1 }],
    source,
  });
  t.same((await facets({ field: 'error_code' })).values, [{ value: null, count: 5 }]);
  t.same((await facets({ field: 'model', sources: ['evaluator'] })).values, [{ value: 'judge', count: 1 }]);
}

t.test(
  'facets count the values of a field under a filter, the same from rows and from roll-ups',
  async (t) => {
    await checkFacets(t, 'rows');
    t.same((await facets({ field: 'user' })).values, USERS);
    t.same((await facets({ field: 'property:pLAN', search: 'pro' })).values, [{ value: 'pro', count: 2 }]);
    t.same(
      (await facets({ field: 'property:plan', filter: { properties: { plan: { equals: 'pro' } } } })).values,
      [{ value: 'pro', count: 2 }],
    );
    const { sql } = api.database;
    await registerRollups(sql);
    await applyAllChanges(sql);
    await recomputeAll(sql);
    await checkFacets(t, 'rollup');
    const scores = { measures: [{ metric: 'score:x', aggregate: 'avg' }], range: MARCH, bucket: 'none' };
    t.match(await ask(scores), { source: 'rollup', total: { total: [null] } }, 'no rows are read');

    t.match(await facets({ field: 'user' }), { values: USERS, source: 'rollup' });
    await sql`
      insert into assay.rollup_values
      select (jsonb_populate_record(v, jsonb_build_object('value', 'user ' || number))).*
        from (select v from assay.rollup_values v where dimension = 'user' and grain_seconds = 86400
                order by begins_at desc limit 1) one,
             generate_series(1, 13000) as number`;
    t.match(
      await facets({ field: 'user' }),
      { values: USERS, source: 'rows', approximate: false },
      'too many users to add up',
    );
    await sql`delete from assay.rollup_values where value like 'user %'`;
  },
);
