import t from 'tap';
import type { GatewayState } from '#core/contracts/process-state.ts';
import type { SystemJson } from '#core/contracts/system.ts';
import { startTestApi } from '../../../support/api.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

const api = await startTestApi(t);
const { sql } = api.database;
const own = api.own.organizationId;
const get = async (key = api.own.key) => (await api.call('/v1/system', { key })).body.data as SystemJson;
const namesOf = ({ reasons }: SystemJson) => reasons.map(({ reason }) => reason);

const outbox = { records: 0, bytes: 0, oldest_ms: 0, fill: 0.001, is_refusing: false };
const gateway: GatewayState = { outbox, breakers: [], is_limiting_alone: false };

/** Writes the report of a process that a test makes up. */
async function report(role: string, state: object, version = '0.1.0', agoSeconds = 0) {
  await sql`
    insert into assay.processes (process_id, role, host, pid, version, started_at, at, state)
    values (gen_random_uuid(), ${role}, 'secret-host', 987654321, ${version}, now(),
            now() - ${agoSeconds} * interval '1 second', ${JSON.stringify(state)}::text::jsonb)`;
}
t.beforeEach(async () => {
  await sql`delete from assay.processes where host = 'secret-host'`;
  await report('gateway', gateway);
  await report('ingest', { last_stored_at: null });
});

t.test('the API that answers lists itself, and a whole installation is ok', async (t) => {
  for (;;) {
    const { processes } = await get();
    if (processes.some(({ role }) => role === 'api')) break;
  }
  const system = await get();
  t.same([system.health, system.reasons], ['ok', []]);
  t.equal(system.version, system.processes.find(({ role }) => role === 'api')!.version);
  t.same(
    system.processes.map(({ role, outbox: one }) => [role, one !== null]),
    [
      ['api', true],
      ['gateway', true],
      ['ingest', false],
    ],
  );
  t.equal(system.ingest.lag_ms, 0);
  t.notMatch(JSON.stringify(system), /secret-host|987654321/, 'where processes run is not for keys');
});

t.test('a role whose processes are silent is missing, and the health says so', async (t) => {
  await sql`update assay.processes set at = now() - interval '36 seconds' where role = 'gateway'`;
  const system = await get();
  t.equal(system.health, 'degraded');
  t.match(system.reasons, [{ reason: 'role_missing', message: /role gateway/ }]);
  t.notOk(system.processes.some(({ role }) => role === 'gateway'));
});

t.test('lag, backlog and breakers are those of all gateways', async (t) => {
  const late = { ...outbox, records: 500, bytes: 9_000, oldest_ms: 45_000 };
  await report('gateway', {
    ...gateway,
    outbox: late,
    breakers: [{ provider: 'openai', state: 'half-open' }],
  });
  await report('gateway', { ...gateway, breakers: [{ provider: 'openai', state: 'open' }] });
  const system = await get();
  t.equal(system.ingest.lag_ms, 45_000);
  t.same(system.breakers, [{ provider: 'openai', state: 'open', gateways: 2 }]);
  t.same(namesOf(system), ['storing_behind', 'provider_failing']);
  t.ok(system.processes.some((one) => one.outbox?.records === 500 && one.outbox.bytes === 9_000));
});

t.test('outboxes whose files fail degrade the installation, whichever role reads them', async (t) => {
  await report('ingest', { last_stored_at: new Date().toISOString(), failing_outboxes: 0 });
  await report('gateway', { ...gateway, failing_outboxes: 0 });
  t.same(namesOf(await get()), []);
  await report('ingest', { last_stored_at: null, failing_outboxes: 2 });
  t.match((await get()).reasons, [{ reason: 'outbox_failing', message: /the log of ingest names it/ }]);
  await report('api', { outbox, failing_outboxes: 1 });
  await report('gateway', { ...gateway, failing_outboxes: 1 });
  const { reasons } = await get();
  t.match(reasons, [{ reason: 'outbox_failing' }]);
  for (const role of ['api', 'gateway', 'ingest']) t.match(reasons[0]!.message, role);
});

t.test(
  'a process of another version, with a report of another shape, is listed without its state',
  async (t) => {
    await report('gateway', { outbox: 'somewhere', breakers: 3 }, '9.9.9');
    const system = await get();
    t.match(
      system.processes.find(({ version }) => version === '9.9.9'),
      { role: 'gateway', outbox: null },
    );
    t.equal(system.health, 'ok');
  },
);

t.test(
  'dead letters of another organization are not counted, and those of none only for a single tenant',
  async (t) => {
    const insert = (organizationId: string | null, entry: string) => sql`
    insert into assay.dead_letters (origin, organization_id, reason, entry)
    values ('test', ${organizationId}, 'test', ${Buffer.from(entry)})`;
    await insert(own, 'a');
    await insert(own, 'b');
    await insert(api.other.organizationId, 'c');
    await insert(null, 'd');
    t.same((await get()).dead_letters, { own: 2, others: null });
    t.same((await get(api.other.key)).dead_letters, { own: 1, others: null });
    t.same(namesOf(await get()), ['dead_letters']);
    // The function with a single organization, in a transaction that leaves no trace.
    await sql
      .begin(async (tx) => {
        await tx`delete from assay.api_keys where organization_id = ${api.other.organizationId}`;
        await tx`delete from assay.organizations where organization_id = ${api.other.organizationId}`;
        await tx`select set_config('assay.organization', ${own}, true)`;
        t.same(await tx`select own, others from assay.count_dead_letters(10)`, [{ own: 2, others: 2 }]);
        t.same(await tx`select own, others from assay.count_dead_letters(1)`, [{ own: 1, others: 1 }]);
        throw new Error('undo');
      })
      .catch((error: Error) => t.equal(error.message, 'undo'));
    await sql`delete from assay.dead_letters`;
  },
);

t.test('paused evaluators and the newest request are the own ones', async (t) => {
  const make = (organizationId: string, name: string, reason: string | null) => sql`
    insert into assay.evaluators (organization_id, name, score_key, scoring_type, version, paused_reason, created_at, updated_at)
    values (${organizationId}, ${name}, ${name}, 'LLM-BOOLEAN', 1, ${reason}, now(), now())`;
  await make(own, 'polite', 'billing');
  await make(own, 'running', null);
  await make(api.other.organizationId, 'theirs', 'auth');
  await report('evaluators', { held: 0 });
  await insertRequests(sql, own, [{ created_at: new Date(Date.now() - 60_000) }]);
  const [mine, theirs] = [await get(), await get(api.other.key)];
  t.match(mine.paused_evaluators, [{ name: 'polite', reason: 'billing' }]);
  t.same(namesOf(mine), ['evaluator_paused']);
  t.match(theirs.paused_evaluators, [{ name: 'theirs' }]);
  t.ok(mine.ingest.newest_stored_ms! >= 60_000 && mine.ingest.newest_stored_ms! < 120_000);
  t.equal(theirs.ingest.newest_stored_ms, null);
});
