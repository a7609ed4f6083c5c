import t from 'tap';
import type { AlertBody, AlertJson, AlertTestJson } from '#core/contracts/alert.ts';
import { startTestApi } from '../../../support/api.ts';
import { insertRequests } from '../../../support/seed-requests.ts';
import { BODY, MINUTE_MS } from './alert-world.ts';

const api = await startTestApi(t);
const { sql } = api.database;
const own = api.own.organizationId;
t.afterEach(() => sql`delete from assay.alerts`);

const create = async (body: Partial<AlertBody> = {}) => {
  const answer = await api.call('/v1/alert', { body: { ...BODY, ...body } });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.data as AlertJson;
};
const get = async (id: string) => (await api.call(`/v1/alert/${id}`)).body.data as AlertJson;

/** Stores requests of the last full minutes, one for each status. */
const store = (statuses: readonly number[], model = 'gpt-4o') =>
  insertRequests(
    sql,
    own,
    statuses.map((status) => ({ status, model, created_at: new Date(Date.now() - 2 * MINUTE_MS) })),
  );

t.test('an alert on the error rate fires by itself, group by group, and its history tells it', async (t) => {
  await store([200, 200, 500, 500], 'bad');
  await store([200, 200, 200, 200], 'good');
  const { id, state } = await create({ query: { ...BODY.query, groupBy: ['model'] } });
  t.equal(state, 'unknown');
  let alert = await get(id);
  while (alert.state === 'unknown') alert = await get(id);
  t.match(alert, {
    state: 'critical',
    firing: [{ group: { model: 'bad' }, severity: 'critical', value: 0.5 }],
    error: null,
  });
  t.equal(alert.firing.length, 1);
  const history = await api.call(`/v1/alert/${id}/history`);
  t.match(history.body.data, {
    entries: [{ event: 'fired', group: { model: 'bad' }, value: 0.5, threshold: 0.05, reason: null }],
    next: null,
  });
  await sql`delete from assay.requests`;
});

t.test('a new alert has what was left out as by default, and keeps what was given', async (t) => {
  t.match(await create(), {
    warning: null,
    for_minutes: 0,
    no_data: 'ok',
    webhooks: 'all',
    gone_webhooks: [],
    enabled: true,
    skipped_groups: 0,
  });
  const given = {
    name: 'Odd \u0000 😀 name',
    query: {
      measures: [{ metric: 'cost' as const, aggregate: 'sum' as const }],
      groupBy: ['user' as const],
      filter: { request: { model: { equals: 'null \u0000' } } },
      sources: ['gateway' as const],
    },
    window_minutes: 43_200,
    comparison: '<=' as const,
    threshold: -1.5e-7,
    warning: 3,
    for_minutes: 1_440,
    no_data: 'alert' as const,
    webhooks: [],
    enabled: false,
  };
  const { id } = await create(given);
  const { name, query, ...rest } = given;
  t.match(await get(id), { ...rest, state: 'disabled', evaluated_at: null });
  const shown = await get(id);
  t.match(shown.name, /^Odd .+ 😀 name$/);
  t.same(Object.keys(shown.query).sort(), ['filter', 'groupBy', 'measures', 'sources']);
  await create({ name: 'x'.repeat(100) });
});

t.test('a change names only what it changes, and changes nothing when it is refused', async (t) => {
  const { id } = await create({ for_minutes: 3 });
  const change = (body: object) => api.call(`/v1/alert/${id}`, { method: 'PATCH', body });
  t.match((await change({ threshold: 0.5, warning: 0.25 })).body.data, {
    threshold: 0.5,
    warning: 0.25,
    for_minutes: 3,
    name: 'Errors',
  });
  const refused = await change({ threshold: 0.1 });
  t.equal(refused.status, 400);
  t.match(refused.body.error, 'warning must be less than threshold, 0.1, for the comparison >, but is 0.25');
  t.equal((await change({})).status, 400);
  t.equal((await get(id)).threshold, 0.5);
  t.equal((await change({ warning: null })).status, 200);
  const { body } = await api.call('/v1/audit');
  t.match((body.data as { entries: object[] }).entries[0], {
    action: 'update',
    target: { kind: 'alert', id },
    changes: { warning: { from: 0.25, to: null } },
  });
});

t.test('an alert of another organization is as unknown as a made-up one', async (t) => {
  const { id } = await create();
  const key = api.other.key;
  for (const [method, path, body] of [
    ['GET', `/v1/alert/${id}`],
    ['GET', `/v1/alert/${id}/history`],
    ['PATCH', `/v1/alert/${id}`, { threshold: 1 }],
    ['DELETE', `/v1/alert/${id}`],
  ] as const) {
    const theirs = await api.call(path, { method, key, ...(body && { body }) });
    const unknownId = '00000000-0000-4000-8000-000000000000';
    const made = await api.call(path.replace(id, unknownId), { method, key, ...(body && { body }) });
    t.same([theirs.status, theirs.body.error], [404, made.body.error!.replace(unknownId, id)]);
  }
  t.same((await api.call('/v1/alert', { key })).body.data, []);
  t.equal((await get(id)).id, id);
});

t.test('a body that breaks a rule is a 400 that says which, and stores nothing', async (t) => {
  const measure = BODY.query.measures[0]!;
  const query = (more: object) => ({ query: { ...BODY.query, ...more } });
  const cases: [object, RegExp][] = [
    [{ name: '' }, /^name must not be empty/],
    [{ name: 'x'.repeat(101) }, /^name must have at most 100 characters/],
    [{ name: undefined }, /^name is required/],
    [{ query: {} }, /^query\.measures is required/],
    [query({ measures: [] }), /^query\.measures must hold at least 1 items/],
    [query({ measures: [measure, measure] }), /^query\.measures must hold at most 1 items/],
    [
      query({ measures: [{ metric: 'speed', aggregate: 'avg' }] }),
      /^query\.measures\.0\.metric must be one of/,
    ],
    [
      query({ measures: [{ metric: 'errors', aggregate: 'p99' }] }),
      /aggregate must be one of .* which errors has/,
    ],
    [query({ groupBy: ['model', 'user'] }), /^query\.groupBy must hold at most 1 items/],
    [query({ groupBy: ['colour'] }), /^query\.groupBy\.0 must be one of/],
    [query({ filter: { request: { nothing: { equals: 1 } } } }), /nothing/],
    [query({ sources: ['moon'] }), /^query\.sources\.0 must be one of/],
    [query({ range: { from: 0, to: 1 } }), /^query\.range is not a known field/],
    [{ window_minutes: 0 }, /^window_minutes must be at least 1/],
    [{ window_minutes: 43_201 }, /^window_minutes must be at most 43200/],
    [{ window_minutes: 1.5 }, /^window_minutes must be a whole number/],
    [{ comparison: '=' }, /^comparison must be one of ">", ">=", "<", "<="/],
    [{ threshold: '5' }, /^threshold must be a number/],
    [{ threshold: null }, /^threshold must be a number/],
    [{ warning: 0.05 }, /^warning must be less than threshold/],
    [{ comparison: '<', warning: 0.01 }, /^warning must be more than threshold/],
    [{ for_minutes: -1 }, /^for_minutes must be at least 0/],
    [{ for_minutes: 1_441 }, /^for_minutes must be at most 1440/],
    [{ no_data: 'maybe' }, /^no_data must be one of "ok", "alert", "keep"/],
    [{ webhooks: 'none' }, /^webhooks must be/],
    [{ webhooks: ['x'] }, /^webhooks\.0 must be a UUID/],
    [{ webhooks: Array(11).fill('00000000-0000-4000-8000-000000000000') }, /^webhooks must/],
    [{ webhooks: ['00000000-0000-4000-8000-000000000000'] }, /^webhooks must hold ids of webhooks/],
    [{ enabled: 1 }, /^enabled must be true or false/],
    [{ colour: 'red' }, /^colour is not a known field/],
  ];
  for (const [change, sentence] of cases) {
    const { status, body } = await api.call('/v1/alert', { body: { ...BODY, ...change } });
    t.equal(status, 400, JSON.stringify(change).slice(0, 80));
    t.match(body.error, sentence);
  }
  const huge = await api.call('/v1/alert', {
    raw: JSON.stringify({ ...BODY, threshold: 7 }).replace('7', '1e999'),
  });
  t.equal(huge.status, 400);
  t.same((await api.call('/v1/alert')).body.data, []);
  t.equal((await api.call('/v1/alert/x/history?after=0')).status, 404);
  const { id } = await create();
  t.equal((await api.call(`/v1/alert/${id}/history?after=x`)).status, 400);
});

t.test('an organization has at most 100 alerts, also when two callers create the last one', async (t) => {
  await create();
  const [{ alert_id: id }] = await sql<[{ alert_id: string }]>`select alert_id from assay.alerts`;
  await sql`
    with added as (
      insert into assay.alerts
      select gen_random_uuid(), organization_id, name, query, window_minutes, comparison, threshold, warning, for_minutes,
             no_data, webhook_ids, false, created_at, updated_at
        from assay.alerts, generate_series(1, 98) where alert_id = ${id} returning alert_id)
    insert into assay.alert_runs (alert_id, organization_id, due_at) select alert_id, ${own}, now() from added`;
  const answers = await Promise.all([1, 2].map(() => api.call('/v1/alert', { body: BODY })));
  t.same(answers.map(({ status }) => status).sort(), [200, 409]);
  t.match(answers.find(({ status }) => status === 409)!.body.error, 'at most 100 alerts');
});

t.test(
  'named webhooks must be the own ones, and those that were deleted since are shown as gone',
  async (t) => {
    const webhook = async (organizationId: string) => {
      const [row] = await sql<{ id: string }[]>`
      insert into assay.webhooks (organization_id, url, events, payload, format, sealed, created_at, updated_at)
      values (${organizationId}, 'https://example.com', '{alert.fired}', 'thin', 'chat', '', now(), now())
      returning webhook_id as id`;
      return row!.id;
    };
    const [mine, theirs] = [await webhook(own), await webhook(api.other.organizationId)];
    t.match((await api.call('/v1/alert', { body: { ...BODY, webhooks: [theirs] } })).body.error, theirs);
    const { id } = await create({ webhooks: [mine] });
    t.match(await get(id), { webhooks: [mine], gone_webhooks: [] });
    await sql`update assay.webhooks set deleted_at = now() where webhook_id = ${mine}`;
    t.match(await get(id), { webhooks: [mine], gone_webhooks: [mine] });
    const changed = await api.call(`/v1/alert/${id}`, { method: 'PATCH', body: { threshold: 1 } });
    t.equal(changed.status, 200, 'a webhook that is gone does not refuse other changes');
  },
);

t.test('a test tells what an alert would have said over the last hours, and stores nothing', async (t) => {
  const endMs = Math.floor((Date.now() - 5_000) / MINUTE_MS) * MINUTE_MS;
  const before = (minutes: number) => new Date(endMs - minutes * MINUTE_MS);
  await insertRequests(sql, own, [
    ...[30.5, 31.5, 32.5].map((minutes) => ({ status: 500, created_at: before(minutes) })),
    { status: 200, created_at: before(20.5) },
  ]);
  const answer = await api.call('/v1/alert/test', {
    body: { alert: { ...BODY, window_minutes: 1 }, hours: 1 },
  });
  const { events, values, ...rest } = answer.body.data as AlertTestJson;
  t.same(rest, { step_minutes: 1, evaluations: 60, is_complete: true });
  t.same(
    events.map(({ at, event }) => [Date.parse(at), event]),
    [
      [before(32).getTime(), 'fired'],
      [before(29).getTime(), 'resolved'],
    ],
  );
  t.equal(values.length, 60);
  t.same(
    values.filter(([, value]) => value !== null),
    [
      [before(32).getTime(), 1],
      [before(31).getTime(), 1],
      [before(30).getTime(), 1],
      [before(20).getTime(), 0],
    ],
  );
  t.same((await api.call('/v1/alert')).body.data, []);
  const bad = await api.call('/v1/alert/test', { body: { alert: { ...BODY, warning: 1 } } });
  t.match([bad.status, bad.body.error], [400, /^warning/]);
  for (const hours of [0, 169, 'all'])
    t.equal((await api.call('/v1/alert/test', { body: { alert: BODY, hours } })).status, 400);
});
