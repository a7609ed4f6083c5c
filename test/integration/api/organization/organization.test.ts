import t from 'tap';
import { createKey, setEvaluationBudget, setTier } from '#platform/keys/mod.ts';
import { startTestApi } from '../../../support/api.ts';

const api = await startTestApi(t);
const { sql } = api.database;
const { organizationId } = api.own;
const get = async (key?: string) =>
  (await api.call('/v1/organization', key === undefined ? {} : { key })).body.data as Record<string, unknown>;

t.test(
  'an organization shows its tier and its limits, which are the tier’s unless it has its own',
  async (t) => {
    const first = await get();
    t.match(first, {
      id: organizationId,
      name: 'own',
      tier: 'free',
      created_at: /Z$/,
      limits: { logs_per_5s: 834 },
      budget: { evaluations_per_day: null, evaluations_today: 0 },
    });
    await setTier(sql, 'own', { tier: 'enterprise', logsPer5s: null });
    t.match(await get(), { tier: 'enterprise', limits: { logs_per_5s: null } });
    await setTier(sql, 'own', { tier: 'pro', logsPer5s: 12 });
    t.match(await get(), { tier: 'pro', limits: { logs_per_5s: 12 } });
  },
);

t.test('the budget is in USD, beside what was spent today and not on other days', async (t) => {
  await setEvaluationBudget(sql, 'own', 2_500_000_000);
  await sql`
    insert into assay.evaluation_spend (organization_id, evaluator_id, day, cost_nano)
    select ${organizationId}, gen_random_uuid(), (now() at time zone 'utc')::date - age, 100000001
    from unnest(array[0, 0, 1]) age`;
  t.match(await get(), { budget: { evaluations_per_day: 2.5, evaluations_today: 0.200000002 } });
});

t.test('keys are counted by their state, those of other organizations never', async (t) => {
  const before = (await get()).keys as Record<string, number>;
  const add = async (columns: Partial<Parameters<typeof createKey>[1]> = {}) =>
    (await createKey(sql, { organizationId, scopes: ['read'], ...columns })).record.keyId;
  await add();
  await add({ expiresAt: new Date(Date.now() - 1_000) });
  const revoked = await add({ expiresAt: new Date(Date.now() - 1_000) });
  await sql`update assay.api_keys set revoked_at = now() where key_id = ${revoked}`;
  await createKey(sql, { organizationId: api.other.organizationId, scopes: ['read'] });
  const { active = 0, expired = 0, revoked: gone = 0 } = before;
  t.same((await get()).keys, { active: active + 1, expired: expired + 1, revoked: gone + 1 });
});

t.test('each key sees its own organization, and needs the scope read', async (t) => {
  t.match(await get(api.other.key), { id: api.other.organizationId, name: 'other' });
  t.equal((await api.call('/v1/organization', { key: await api.own.keyWith(['write']) })).status, 403);
  t.equal((await api.call('/v1/organization', { key: null })).status, 401);
});
