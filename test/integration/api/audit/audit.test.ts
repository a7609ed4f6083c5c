/** Every change of configuration is in the log: who, what, when. */
import t from 'tap';
import type { AuditEntry, AuditPage } from '#core/contracts/audit.ts';
import { createKey, setEvaluationBudget, setTier } from '#platform/keys/mod.ts';
import { connectPostgres } from '#platform/postgres/mod.ts';
import { startTestApi } from '../../../support/api.ts';

const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');
const api = await startTestApi(t, { environment: { SECRET_KEY } });
const { sql } = api.database;
const { organizationId } = api.own;
const { key: managerKey, record: manager } = await createKey(sql, {
  organizationId,
  scopes: ['gateway', 'read', 'write'],
});

const call = (path: string, method = 'GET', body?: object) =>
  api.call(path, { key: managerKey, method, ...(body && { body }) });
async function log(query = '', key = managerKey): Promise<AuditEntry[]> {
  const answer = await api.call(`/v1/audit${query}`, { key });
  if (answer.status !== 200) throw new Error(answer.text);
  return (answer.body.data as AuditPage).entries;
}
const idOf = (answer: { body: { data: unknown } }) => (answer.body.data as { id: string }).id;
/** The actions on one thing, oldest first. */
const actionsOn = async (id: string) => (await log(`?target_id=${id}`)).map(({ action }) => action).reverse();

t.test('the life of a key is in the log, by the key that made each change, without its hash', async (t) => {
  const made = await call('/v1/keys', 'POST', {
    name: 'logged',
    scopes: ['read'],
    owner: 'ada',
    models: ['gpt*'],
  });
  const id = idOf(made);
  await call(`/v1/keys/${id}`, 'PATCH', { owner: null, models: ['gpt-4*'] });
  await call(`/v1/keys/${id}`, 'PATCH', { owner: null });
  const rotated = idOf(await call(`/v1/keys/${id}/rotate`, 'POST', { overlapSeconds: 60 }));
  await call(`/v1/keys/${id}`, 'DELETE');
  await call(`/v1/keys/${id}`, 'DELETE');
  t.same(await actionsOn(id), ['create', 'update', 'update', 'revoke'], 'what changes nothing is not logged');
  t.same(await actionsOn(rotated), ['rotate']);
  const [revoked, expiry, changed, created] = await log(`?target_kind=api_key&target_id=${id}`);
  t.match(created, {
    at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
    actor: { kind: 'api_key', id: manager.keyId },
    target: { kind: 'api_key', id },
    changes: {
      name: { from: null, to: 'logged' },
      scopes: { from: null, to: ['read'] },
      hash: { changed: true },
    },
  });
  t.same(changed!.changes, {
    owner: { from: 'ada', to: null },
    models: { from: ['gpt*'], to: ['gpt-4*'] },
  });
  t.notOk('providers' in created!.changes, 'nor what a new key does not have');
  const [shown] = await sql<{ at: Date }[]>`select expires_at as at from assay.api_keys where key_id = ${id}`;
  t.same(expiry!.changes, { expires_at: { from: null, to: shown!.at.toISOString() } });
  t.match(revoked!.changes, { revoked_at: { from: null, to: /Z$/ } });
  const { key } = made.body.data as { key: string };
  const everything = JSON.stringify(await sql`select * from assay.audit_log`);
  t.notMatch(everything, key.slice(12));
  const [row] = await sql<{ hash: Buffer }[]>`select hash from assay.api_keys where key_id = ${id}`;
  t.notMatch(everything, row!.hash.toString('hex'));
});

t.test('provider keys are logged without their values, evaluators with their version', async (t) => {
  for (const key of ['sk-first-0123456789abcdef', 'sk-second-0123456789abcdef'])
    t.equal((await call('/v1/provider-keys/groq', 'PUT', { key })).status, 200);
  await call('/v1/provider-keys/groq', 'DELETE');
  const entries = await log('?target_kind=provider_key&target_id=groq');
  t.same(
    entries.map(({ action, changes }) => [action, changes]),
    [
      ['delete', { provider: { from: 'groq', to: null }, sealed: { changed: true } }],
      ['update', { sealed: { changed: true } }],
      ['create', { provider: { from: null, to: 'groq' }, sealed: { changed: true } }],
    ],
  );
  const template = { prompt: 'Is it polite? {{output}}', model: 'gpt-4o-mini' };
  const made = await call('/v1/evaluator', 'POST', {
    name: 'Polite',
    scoring_type: 'LLM-BOOLEAN',
    llm_template: template,
  });
  t.equal(made.status, 200, made.text);
  const id = idOf(made);
  const online = await call(`/v1/evaluator/${id}/onlineEvaluators`, 'POST', { config: { sampleRate: 5 } });
  const onlineId = idOf(online);
  await call(`/v1/evaluator/${id}/onlineEvaluators/${onlineId}`, 'PATCH', { config: { sampleRate: 6 } });
  const [change] = await log(`?target_kind=online_evaluator&target_id=${onlineId}`);
  t.match(change, { action: 'update', changes: { sample_rate: { from: 5, to: 6 } } });
  await call(`/v1/evaluator/${id}`, 'DELETE');
  t.same(await actionsOn(id), ['create', 'delete']);
  t.same((await actionsOn(onlineId)).slice(0, 2), ['create', 'update']);
});

t.test('the life of a prompt is in the log, without the text of its versions', async (t) => {
  const promptBody = { messages: [{ role: 'system', content: 'a text of the prompt' }] };
  const made = await call('/v1/prompt-2025', 'POST', { name: 'logged prompt', tags: [], promptBody });
  const { id, versionId } = made.body.data as { id: string; versionId: string };
  await call(`/v1/prompt-2025/id/${id}/rename`, 'POST', { name: 'renamed' });
  await call(`/v1/prompt-2025/${id}`, 'DELETE');
  const onPrompt = await log(`?target_kind=prompt&target_id=${id}`);
  t.same(
    onPrompt.map(({ action, actor }) => [action, actor.id]),
    ['delete', 'update', 'create'].map((action) => [action, manager.keyId]),
  );
  t.same(onPrompt[1]!.changes, { name: { from: 'logged prompt', to: 'renamed' } });
  const onVersion = await log(`?target_kind=prompt_version&target_id=${versionId}`);
  t.same(onVersion.at(-1)!.changes.body, { changed: true });
  t.notMatch(JSON.stringify(onVersion), 'a text of the prompt');
});

t.test('a change by the command line and one by the system say so', async (t) => {
  const cli = connectPostgres({
    url: api.database.url,
    max: 1,
    applicationName: 'test',
    statementTimeoutMs: 5_000,
    actor: 'command_line',
  });
  t.teardown(() => cli.end({ timeout: 1 }));
  await setTier(cli, 'own', { tier: 'pro', logsPer5s: 77 });
  await setEvaluationBudget(sql, 'own', 2_500_000_000);
  const [budget, tier] = await log('?target_kind=organization');
  t.match(tier, {
    actor: { kind: 'command_line', id: null },
    action: 'update',
    target: { id: organizationId },
    changes: { tier: { from: 'free', to: 'pro' }, logs_per_5s: { from: null, to: 77 } },
  });
  t.match(budget, {
    actor: { kind: 'system', id: null },
    changes: { evaluation_budget_nano: { to: 2_500_000_000 } },
  });
  t.same(
    (await log('?actor=command_line')).map(({ id }) => id),
    [tier!.id],
  );
});

t.test('calls at the same time are logged with the key of each', async (t) => {
  const keys = await Promise.all(
    Array.from({ length: 6 }, () => createKey(sql, { organizationId, scopes: ['write', 'read'] })),
  );
  const made = await Promise.all(
    keys.map(async ({ key, record }) => {
      const answer = await api.call('/v1/keys', { key, body: { name: 'x', scopes: ['read'] } });
      return { id: idOf(answer), by: record.keyId };
    }),
  );
  for (const { id, by } of made) t.match(await log(`?target_id=${id}`), [{ actor: { id: by } }]);
});

t.test('a change that is rolled back, or refused, is not in the log', async (t) => {
  const before = await log();
  await sql
    .begin(async (tx) => {
      await createKey(tx, { organizationId, scopes: ['read'] });
      throw new Error('no');
    })
    .catch(() => {});
  await call('/v1/keys', 'POST', { name: '', scopes: ['read'] });
  t.same(await log(), before);
});

t.test('no role changes the log, and the API does not write it', async (t) => {
  for (const statement of [
    "update assay.audit_log set action = 'x'",
    'delete from assay.audit_log',
    'truncate assay.audit_log',
    'delete from assay.audit_log where false',
  ]) {
    await t.rejects(sql.unsafe(statement), { message: 'assay.audit_log is append-only' }, statement);
    await t.rejects(
      sql.begin(async (tx) => {
        await tx`set local role assay_api`;
        await tx.unsafe(statement);
      }),
      { message: /permission denied/ },
    );
  }
  const asApi = (statement: string) =>
    sql.begin(async (tx) => {
      await tx`set local role assay_api`;
      await tx`select set_config('assay.organization', ${organizationId}, true)`;
      await tx.unsafe(statement);
    });
  await t.rejects(
    asApi(`select assay.append_audit('${api.other.organizationId}', 'a', 'b', 'c', '{}')`),
    /permission denied/,
  );
  await t.rejects(
    asApi(
      `insert into assay.audit_log (organization_id, at, actor_kind, action, target_kind, target_id, changes)
       values ('${organizationId}', now(), 'system', 'a', 'b', 'c', '{}')`,
    ),
    /permission denied/,
  );
  await asApi(`select assay.audit_event('erase', 'request', 'r1', '{"count": 3}')`);
  t.match((await log('?limit=1'))[0], { action: 'erase', target: { id: 'r1' }, changes: { count: 3 } });
});

t.test('pages neither overlap nor skip, also while changes are made, and filters narrow them', async (t) => {
  const all = await log();
  const read: string[] = [];
  let after: string | null = '';
  while (after !== null) {
    const answer = await call(`/v1/audit?limit=3${after === '' ? '' : `&after=${after}`}`);
    const page = answer.body.data as AuditPage;
    read.push(...page.entries.map(({ id }) => id));
    after = page.next;
    if (read.length === 3) await call('/v1/keys', 'POST', { name: 'meanwhile', scopes: ['read'] });
  }
  t.same(
    read,
    all.map(({ id }) => id),
  );
  const middle = all[Math.floor(all.length / 2)]!;
  const since = (await log(`?from=${middle.at}`)).map(({ id }) => id);
  const until = (await log(`?to=${middle.at}`)).map(({ id }) => id);
  t.ok(since.includes(middle.id) && !until.includes(middle.id));
  t.equal(new Set([...since, ...until]).size, since.length + until.length);
  for (const entry of await log('?action=revoke')) t.equal(entry.action, 'revoke');
  for (const entry of await log(`?actor=${manager.keyId}`)) t.equal(entry.actor.id, manager.keyId);
  t.same(await log('?target_id=none&action=%F0%9F%94%91%00'), []);
});

t.test('another organization sees its own log only', async (t) => {
  const entries = await log('', api.other.key);
  t.ok(entries.length > 0);
  const foreign = new Set((await log()).map(({ id }) => id));
  t.notOk(entries.some(({ id }) => foreign.has(id)));
  t.equal((await api.call('/v1/audit', { key: await api.own.keyWith(['write', 'gateway']) })).status, 403);
});

t.test('parameters that break a rule are refused', async (t) => {
  for (const [query, says] of [
    ['?limit=0', /^limit must be a whole number from 1 to 100/],
    ['?after=x', /^after must be the `next` of an earlier page/],
    ['?from=yesterday', /^from must be an RFC 3339 timestamp .* but is "yesterday"/],
    ['?to=2026-13-01T00:00:00Z', /^to must be an RFC 3339 timestamp/],
    ['?action=', /^action must not be empty/],
    [`?actor=${'x'.repeat(201)}`, /^actor must have at most 200 characters/],
    ['?what=x', /^what is not a known field/],
  ] as const) {
    const answer = await call(`/v1/audit${query}`);
    t.match([answer.status, answer.body.error], [400, says], query);
  }
});
