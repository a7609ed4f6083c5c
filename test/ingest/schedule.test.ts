/** Which evaluations are there once a record is: through ingest as it runs, into a real PostgreSQL. */
import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { systemClock } from '#core/clock.ts';
import type { LogEntryHead } from '#core/schema/log-entry.ts';
import { isSampled, type Probe, type ScoringType, samplingPoint } from '#core/scoring/mod.ts';
import { Drain } from '../../api/ingest/drain.ts';
import { retryAllDeadLetters } from '../../api/ingest/retry-dead-letter.ts';
import { EVALUATIONS_CHANNEL } from '../../api/ingest/schedule.ts';
import { logEntryHead, TEST_ORGANIZATION } from '../support/log-entries.ts';
import { testDatabase } from '../support/postgres.ts';
import { outboxWorld } from './outbox-world.ts';

const OTHER_ORGANIZATION = '00000000-0000-4000-8000-000000000002';
/** What is refused on its way into the store. */
const REFUSED: Partial<LogEntryHead> = { status: 9_999_999_999 };

type Evaluator = {
  evaluatorId?: string;
  organizationId?: string;
  scoringType?: ScoringType;
  adapter?: string;
  deleted?: boolean;
  paused?: boolean;
};

type Online = {
  organizationId?: string;
  sampleRate?: number;
  propertyFilters?: { key: string; value: string }[];
  filter?: unknown;
  probeRate?: number;
};

type Evaluation = {
  evaluator_id: string;
  version: number;
  request_id: string;
  probe: Probe | '';
  lane: string;
  priority: number;
  state: string;
};

const database = await testDatabase();
t.teardown(() => database.close());
await database.sql`
  insert into assay.organizations (organization_id, name)
  values (${TEST_ORGANIZATION}, 'ours'), (${OTHER_ORGANIZATION}, 'theirs')`;

let named = 0;

/** An outbox of its own on the one database, from which the test before has taken everything. */
async function setUp(t: Test) {
  const world = await outboxWorld(t, { database });
  const { sql } = world;
  await sql`truncate assay.evaluations, assay.online_evaluators, assay.evaluator_versions, assay.evaluators, assay.evaluation_runs, assay.requests,
    assay.request_bodies, assay.request_properties, assay.dead_letters, assay.outbox_cursors`;

  async function addVersion(evaluatorId: string, version: number, given: Evaluator = {}) {
    const config = given.adapter === undefined ? null : sql.json({ adapter: given.adapter });
    await sql`
      insert into assay.evaluator_versions (evaluator_id, version, organization_id, external_config, created_at)
      values (${evaluatorId}, ${version}, ${given.organizationId ?? TEST_ORGANIZATION}, ${config}, now())`;
    await sql`update assay.evaluators set version = ${version} where evaluator_id = ${evaluatorId}`;
  }

  async function addEvaluator(given: Evaluator = {}): Promise<string> {
    const {
      evaluatorId = randomUUID(),
      organizationId = TEST_ORGANIZATION,
      scoringType = 'LLM-RANGE',
    } = given;
    named += 1;
    await sql`
      insert into assay.evaluators (evaluator_id, organization_id, name, score_key, scoring_type, paused_reason,
                                    created_at, updated_at, deleted_at)
      values (${evaluatorId}, ${organizationId}, ${`judge ${named}`}, ${`judge_${named}`}, ${scoringType},
              ${given.paused ? 'billing' : null}, now(), now(), ${given.deleted ? new Date() : null})`;
    await addVersion(evaluatorId, 1, given);
    return evaluatorId;
  }

  async function setOnline(evaluatorId: string, given: Online = {}): Promise<void> {
    const {
      organizationId = TEST_ORGANIZATION,
      sampleRate = 100,
      propertyFilters = [],
      probeRate = 0,
    } = given;
    const filter = given.filter === undefined ? null : JSON.stringify(given.filter);
    await sql`
      insert into assay.online_evaluators
        (organization_id, evaluator_id, sample_rate, property_filters, filter, probe_rate, created_at)
      values (${organizationId}, ${evaluatorId}, ${sampleRate}, ${sql.json(propertyFilters)}, ${filter}::text::jsonb,
              ${probeRate}, now())`;
  }

  return {
    ...world,
    addVersion,
    addEvaluator,
    setOnline,
    async online(given: Evaluator & Online = {}) {
      const evaluatorId = await addEvaluator(given);
      await setOnline(evaluatorId, given);
      return evaluatorId;
    },
    /** Puts a call into the outbox, and returns its id. */
    async logged(head: Partial<LogEntryHead> = {}, request = '{}', response = '{}') {
      const whole = logEntryHead(head);
      await world.put(whole, request, response);
      return whole.id;
    },
    /** Delivers everything once more. */
    async redeliver() {
      await sql`delete from assay.outbox_cursors`;
      await world.ingest();
    },
    evaluations: () => sql<Evaluation[]>`
      select evaluator_id, version, request_id, probe, lane, priority, state from assay.evaluations
       order by request_id, evaluator_id, probe`,
    /** The requests that an evaluator is to score, each as often as that. */
    async scheduledFor(evaluatorId: string) {
      const rows = await sql<{ request_id: string }[]>`
        select request_id from assay.evaluations where evaluator_id = ${evaluatorId} and probe = '' order by request_id`;
      return rows.map((row) => row.request_id);
    },
    async stored() {
      const rows = await sql<
        { request_id: string }[]
      >`select request_id from assay.requests order by request_id`;
      return rows.map((row) => row.request_id);
    },
    async letters() {
      return (await sql`select 1 from assay.dead_letters`).length;
    },
  };
}

/** Ids that are the same in every run, so that what is sampled is as well. */
const FIXED_IDS = Array.from({ length: 400 }, (_, index) => `01J8QZ5K3M${String(index).padStart(16, '0')}`);
const FIXED_EVALUATOR = '7d3c0b9e-3f50-4b0e-9a51-0c8f6a2f5d10';

const SUCCEEDED = { response: { status: { equals: 200 } } };

t.test('a record is stored with an evaluation that waits for its turn', async (t) => {
  const { online, logged, ingest, sql } = await setUp(t);
  const evaluator = await online();
  const before = Date.now();
  const id = await logged({ createdAtMs: before - 1_234 });
  await ingest();
  const rows = await sql`select * from assay.evaluations`;
  t.match(rows, [
    {
      organization_id: TEST_ORGANIZATION,
      evaluator_id: evaluator,
      version: 1,
      request_id: id,
      created_at: new Date(before - 1_234),
      probe: '',
      run_id: null,
      lane: 'remote',
      priority: 0,
      state: 'pending',
      attempts: 0,
      score: null,
      finished_at: null,
    },
  ]);
  const { due_at: due, scheduled_at: scheduled } = rows[0] as { due_at: Date; scheduled_at: Date };
  t.ok(due.getTime() <= Date.now(), 'it is due at once');
  t.ok(scheduled.getTime() >= before - 1);
});

t.test('a record and its evaluations are of one transaction', async (t) => {
  const { online, logged, ingest, sql } = await setUp(t);
  for (const table of ['requests', 'evaluations']) {
    const written = sql(`assay.${table}`);
    await sql`alter table ${written} add column written_in xid8 default pg_current_xact_id()`;
    t.teardown(() => sql`alter table ${written} drop column written_in`);
  }
  await online({ filter: SUCCEEDED });
  await online({ scoringType: 'PYTHON' });
  await logged();
  await ingest();
  const rows = await sql`
    select e.written_in = r.written_in as together
      from assay.evaluations e join assay.requests r using (organization_id, created_at, request_id)`;
  t.same([...rows], [{ together: true }, { together: true }]);
});

t.test('a record whose evaluations cannot be written is not stored without them', async (t) => {
  const { online, logged, ingest, stored, letters, evaluations, sql } = await setUp(t);
  await online({ propertyFilters: [{ key: 'judged', value: 'yes' }] });
  await sql`alter table assay.evaluations add constraint full_disk check (state <> 'pending')`;
  t.teardown(() => sql`alter table assay.evaluations drop constraint full_disk`);
  await logged({ properties: [['Judged', 'yes']] });
  const plain = await logged();
  await ingest();
  t.same(await stored(), [plain], 'what nobody scores is stored');
  t.equal(await letters(), 1, 'the other is kept aside');
  t.same([...(await evaluations())], []);
});

t.test('a batch that is halved for an entry that is refused schedules the others once', async (t) => {
  const { online, logged, ingest, scheduledFor, letters } = await setUp(t);
  const evaluator = await online();
  const good: string[] = [];
  for (let index = 0; index < 30; index += 1) {
    if (index === 4 || index === 17) await logged(REFUSED);
    else good.push(await logged());
  }
  await ingest();
  t.equal(await letters(), 2);
  t.same(await scheduledFor(evaluator), good.sort());
});

t.test('where evaluations wait tells whom they keep busy', async (t) => {
  const { online, logged, ingest, evaluations } = await setUp(t);
  const lanes = new Map([
    [await online({ scoringType: 'LLM-BOOLEAN' }), 'remote'],
    [await online({ scoringType: 'PYTHON' }), 'python'],
    [await online({ scoringType: 'EXTERNAL', adapter: 'http' }), 'remote'],
    [await online({ scoringType: 'EXTERNAL', adapter: 'autoevals' }), 'python'],
  ]);
  await logged();
  await ingest();
  t.same(new Map((await evaluations()).map((row) => [row.evaluator_id, row.lane])), lanes);
});

t.test('an evaluator takes its share of the requests: those that the hash of both ids picks', async (t) => {
  const { online, logged, ingest, scheduledFor } = await setUp(t);
  const evaluator = await online({ evaluatorId: FIXED_EVALUATOR, sampleRate: 30 });
  const none = await online({ sampleRate: 0 });
  const all = await online({ sampleRate: 100 });
  for (const id of FIXED_IDS) await logged({ id });
  await ingest();
  const expected = FIXED_IDS.filter((id) => isSampled(FIXED_EVALUATOR, id, 30));
  t.same(await scheduledFor(evaluator), expected);
  // Five standard deviations of 400 draws at 30 percent are 46.
  t.ok(Math.abs(expected.length - 120) <= 46, `${expected.length} of 400`);
  t.same(await scheduledFor(none), []);
  t.same(await scheduledFor(all), FIXED_IDS);
});

t.test('all property filters have to hold: names are equal ignoring case, values are not', async (t) => {
  const { online, logged, ingest, scheduledFor } = await setUp(t);
  const wants = (...pairs: [string, string][]) =>
    online({ propertyFilters: pairs.map(([key, value]) => ({ key, value })) });
  const pro = await wants(['PLAN', 'pro']);
  const both = await wants(['plan', 'pro'], ['Équipe', 'α']);
  // As the API stores what was given as n\0l and a lone surrogate.
  const odd = await wants(['n\ufffdl', 'a\ufffd']);
  const inherited = await wants(['constructor', 'Object']);
  const proto = await wants(['__proto__', 'x']);

  const first = await logged({ properties: [['Plan', 'pro']] });
  const second = await logged({
    properties: [
      ['plan', 'pro'],
      ['éQUIPE', 'α'],
    ],
  });
  const third = await logged({ properties: [['N\u0000L', 'a\ud83d']] });
  const fourth = await logged({ properties: [['__PROTO__', 'x']] });
  await logged({ properties: [['Plan', 'Pro']] });
  await logged({ properties: [['Plan', 'pro ']] });
  await logged({ properties: [['Plans', 'pro']] });
  await logged();
  await ingest();
  t.same(await scheduledFor(pro), [first, second].sort());
  t.same(await scheduledFor(both), [second]);
  t.same(await scheduledFor(odd), [third], 'compared as they are stored');
  t.same(await scheduledFor(inherited), []);
  t.same(await scheduledFor(proto), [fourth]);
});

t.test('a request filter is that of queries, and takes what a query with it finds', async (t) => {
  const { online, logged, ingest, scheduledFor } = await setUp(t);
  const request = (field: string, condition: object) => ({ request: { [field]: condition } });
  const response = (field: string, condition: object) => ({ response: { [field]: condition } });
  const plan = (condition: object) => ({ properties: { Plan: condition } });
  const answers = JSON.stringify({ model: 'gpt-4o-2024-08-06', choices: [] });
  const ids = {
    pro: await logged({ properties: [['plan', 'pro']], requestModel: 'gpt-4o' }, '{}', answers),
    failed: await logged({ status: 500, userId: 'ada' }),
    slow: await logged({ latencyMs: 60_000, userId: 'bob', properties: [['PLAN', 'free']] }),
    quick: await logged({ latencyMs: 1 }, '{"messages":[{"role":"system"}]}'),
  };
  type Name = keyof typeof ids;
  const cases: [string, unknown, Name[]][] = [
    ['all', 'all', ['pro', 'failed', 'slow', 'quick']],
    ['a status', response('status', { equals: 500 }), ['failed']],
    ['another status', response('status', { 'not-equals': 500 }), ['pro', 'slow', 'quick']],
    ['a latency', response('latency', { gte: 60_000 }), ['slow']],
    ['the model that answered', response('model', { equals: 'gpt-4o-2024-08-06' }), ['pro']],
    ['a user', request('user_id', { contains: 'O' }), ['slow']],
    ['the text of a body', response('body', { contains: 'CHOICES' }), ['pro']],
    ['a value in a body', { values: { 'request.messages.0.role': { equals: 'system' } } }, ['quick']],
    ['a property, whatever its case', plan({ equals: 'pro' }), ['pro']],
    [
      'one or the other',
      { left: plan({ equals: 'free' }), operator: 'or', right: response('status', { equals: 500 }) },
      ['failed', 'slow'],
    ],
    [
      'one and the other',
      { left: plan({ equals: 'free' }), operator: 'and', right: response('status', { equals: 500 }) },
      [],
    ],
    ['a score, which no request has yet', { scores: { quality: { gte: 0 } } }, []],
    ['feedback, which no request has yet', { feedback: { rating: { equals: true } } }, []],
  ];
  const evaluators: string[] = [];
  for (const [, filter] of cases) evaluators.push(await online({ filter }));
  await ingest();
  for (const [index, [what, , names]] of cases.entries()) {
    const expected = names.map((name) => ids[name]).sort();
    t.same(await scheduledFor(evaluators[index]!), expected, what);
  }
});

t.test('a filter looks at each record of a batch, however far apart they were made', async (t) => {
  const { online, logged, ingest, scheduledFor } = await setUp(t);
  const evaluator = await online({ filter: SUCCEEDED });
  const now = Date.now();
  const ids: string[] = [];
  for (const daysAgo of [40, 0, 9]) {
    const createdAtMs = now - daysAgo * 86_400_000;
    ids.push(await logged({ createdAtMs, answeredAtMs: createdAtMs + 5 }));
    await logged({ createdAtMs, answeredAtMs: createdAtMs + 5, status: 404 });
  }
  await ingest();
  t.same(await scheduledFor(evaluator), ids.sort());
});

t.test('sampling, properties and filter have to agree', async (t) => {
  const { online, logged, ingest, scheduledFor } = await setUp(t);
  const evaluator = await online({
    evaluatorId: randomUUID(),
    sampleRate: 50,
    propertyFilters: [{ key: 'plan', value: 'pro' }],
    filter: SUCCEEDED,
  });
  for (const [index, id] of FIXED_IDS.slice(0, 80).entries()) {
    await logged({
      id,
      status: index % 2 === 0 ? 200 : 500,
      properties: [['Plan', index % 4 < 2 ? 'pro' : 'free']],
    });
  }
  await ingest();
  const expected = FIXED_IDS.slice(0, 80).filter(
    (id, index) => index % 4 === 0 && isSampled(evaluator, id, 50),
  );
  t.same(await scheduledFor(evaluator), expected);
});

t.test('the calls of evaluators are scored by nobody', async (t) => {
  const { online, logged, ingest, evaluations, stored } = await setUp(t);
  await online();
  await online({ filter: 'all' });
  const own = await logged({ source: 'evaluator' });
  await ingest();
  t.same([...(await evaluations())], [], 'alone in a batch');
  const others = [await logged({ source: 'evaluator' }), await logged({ source: 'evaluator' })];
  const clients = [await logged({ source: 'gateway' }), await logged({ source: 'api' })];
  await ingest();
  t.same([...new Set((await evaluations()).map((row) => row.request_id))], clients.sort(), 'among others');
  t.same(await stored(), [own, ...others, ...clients].sort());
});

t.test('an evaluator that was deleted gets nothing more', async (t) => {
  const { online, logged, ingest, evaluations, stored } = await setUp(t);
  await online({ deleted: true });
  const id = await logged();
  await ingest();
  t.same(await stored(), [id]);
  t.same([...(await evaluations())], []);
});

t.test('what comes while an evaluator is paused waits for it, and is not lost', async (t) => {
  const { online, logged, ingest, evaluations } = await setUp(t);
  const evaluator = await online({ paused: true });
  const id = await logged();
  await ingest();
  t.match([...(await evaluations())], [{ evaluator_id: evaluator, request_id: id, state: 'pending' }]);
});

t.test('an evaluator scores the requests of its own organization only', async (t) => {
  const { online, logged, ingest, evaluations } = await setUp(t);
  const theirs = { organizationId: OTHER_ORGANIZATION };
  const ours = await online();
  const filtered = await online({ ...theirs, filter: 'all' });
  const plain = await online(theirs);
  const own = await logged();
  const other = await logged(theirs);
  await ingest();
  const pairs = (await evaluations()).map((row) => `${row.request_id} ${row.evaluator_id}`);
  t.same(pairs.sort(), [`${own} ${ours}`, `${other} ${filtered}`, `${other} ${plain}`].sort());
});

t.test('an online evaluator that names an evaluator of another organization schedules nothing', async (t) => {
  const { addEvaluator, setOnline, logged, ingest, evaluations, stored } = await setUp(t);
  await setOnline(await addEvaluator({ organizationId: OTHER_ORGANIZATION }));
  const own = await logged();
  const other = await logged({ organizationId: OTHER_ORGANIZATION });
  await ingest();
  t.same(await stored(), [own, other].sort());
  t.same([...(await evaluations())], []);
});

t.test('an evaluator that is online twice scores a request once', async (t) => {
  const { online, setOnline, logged, ingest, scheduledFor } = await setUp(t);
  const evaluator = await online({ propertyFilters: [{ key: 'plan', value: 'pro' }] });
  await setOnline(evaluator, { filter: SUCCEEDED });
  const both = await logged({ properties: [['plan', 'pro']] });
  const first = await logged({ properties: [['plan', 'pro']], status: 500 });
  const second = await logged();
  await logged({ status: 500 });
  await ingest();
  t.same(await scheduledFor(evaluator), [both, first, second].sort());
});

t.test('a record that is delivered again schedules nothing, and changes nothing', async (t) => {
  const { online, logged, ingest, redeliver, evaluations, sql } = await setUp(t);
  await online({ probeRate: 100 });
  await online({ scoringType: 'PYTHON', filter: 'all' });
  for (let index = 0; index < 5; index += 1) await logged();
  await ingest();
  await sql`update assay.evaluations set state = 'completed', attempts = 1, score = 1, finished_at = now()`;
  const before = await evaluations();
  t.equal(before.length, 15, 'two of each request, and a probe of each');
  await redeliver();
  await redeliver();
  t.same([...(await evaluations())], [...before]);
});

t.test('a record that is delivered again after its evaluator was changed is not scored again', async (t) => {
  const { online, addVersion, logged, ingest, redeliver, evaluations, sql } = await setUp(t);
  const evaluator = await online();
  const old = await logged();
  await ingest();
  await addVersion(evaluator, 2);
  await sql`update assay.online_evaluators set probe_rate = 100`;
  const fresh = await logged();
  await redeliver();
  const seen = (await evaluations()).map(({ request_id, version, probe }) => [
    request_id,
    version,
    probe === '',
  ]);
  t.same(
    seen.sort(),
    [
      [old, 1, true],
      [fresh, 2, true],
      [fresh, 2, false],
    ].sort(),
  );
});

t.test('two processes that read the same outbox schedule each request once', async (t) => {
  const { online, logged, drain, scheduledFor } = await setUp(t);
  const evaluator = await online({ filter: 'all' });
  const ids: string[] = [];
  for (let index = 0; index < 100; index += 1) ids.push(await logged());
  const readers = [drain(), drain(), drain()];
  for (const reader of readers) reader.stop();
  await Promise.all(readers.map((reader) => reader.run()));
  t.same(await scheduledFor(evaluator), ids.sort());
});

t.test('whoever waits for work is told of it, once for a batch, and of nothing else', async (t) => {
  const { online, logged, ingest, sql } = await setUp(t);
  const told: string[] = [];
  const marked = Promise.withResolvers<void>();
  const listening = await sql.listen(EVALUATIONS_CHANNEL, (payload) => {
    told.push(payload);
    if (payload === 'mark') marked.resolve();
  });
  t.teardown(() => listening.unlisten());
  await online({ propertyFilters: [{ key: 'judged', value: 'yes' }] });
  await logged();
  await ingest();
  await sql.notify(EVALUATIONS_CHANNEL, 'nothing yet');
  await logged({ properties: [['judged', 'yes']] });
  await logged({ properties: [['judged', 'yes']] });
  await ingest();
  await sql.notify(EVALUATIONS_CHANNEL, 'mark');
  await marked.promise;
  t.same(told, ['nothing yet', '', 'mark']);
});

/** Ingest whose log can be read. */
function withLog({ root, sql }: Awaited<ReturnType<typeof setUp>>) {
  const lines: { level: number; msg: string; evaluatorId?: string; error?: unknown }[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(chunk));
      done();
    },
  });
  const drain = new Drain({
    root,
    sql,
    log: pino(sink),
    clock: systemClock,
    retentionDays: null,
    onStored: () => {},
  });
  drain.stop();
  return { lines, ingest: () => drain.run() };
}

t.test(
  'a filter that Postgres cannot carry out loses no record and no work of others, and is told of',
  async (t) => {
    const world = await setUp(t);
    const { online, logged, stored, scheduledFor, letters, sql } = world;
    const before = await online({ filter: SUCCEEDED });
    const broken = await online({ filter: { scores: { quality: { gte: 0.5 } } } });
    const after = await online({ filter: SUCCEEDED });
    await sql`alter table assay.request_scores rename to elsewhere`;
    t.teardown(() => sql`alter table assay.elsewhere rename to request_scores`);
    const ids = [await logged(), await logged()].sort();
    const { lines, ingest } = withLog(world);
    await ingest();
    t.same(await stored(), ids);
    t.equal(await letters(), 0);
    t.same(await scheduledFor(before), ids);
    t.same(await scheduledFor(after), ids);
    t.same(await scheduledFor(broken), []);
    const told = lines.filter(({ evaluatorId }) => evaluatorId === broken);
    t.match(told, [
      { level: 50, msg: "an online evaluator's filter cannot be carried out", error: /request_scores/ },
    ]);
    t.equal(told.length, lines.length, 'and nothing else happened');
  },
);

t.test(
  'a filter that this build does not know loses no record and no work of others, and is told of',
  async (t) => {
    const world = await setUp(t);
    const { online, logged, stored, scheduledFor, letters } = world;
    const broken = await online({ filter: { request: { colour: { equals: 'red' } } } });
    const well = await online({ filter: 'all' });
    const ids = [await logged(), await logged()].sort();
    const { lines, ingest } = withLog(world);
    await ingest();
    t.same(await stored(), ids);
    t.equal(await letters(), 0);
    t.same(await scheduledFor(well), ids);
    t.same(await scheduledFor(broken), []);
    t.match(lines, [{ level: 50, evaluatorId: broken, error: /colour/ }]);
  },
);

t.test('probes come beside evaluations and after them, of judges only', async (t) => {
  const { online, logged, ingest, evaluations } = await setUp(t);
  const judge = await online({ scoringType: 'LLM-CHOICE', probeRate: 100 });
  const python = await online({ scoringType: 'PYTHON', probeRate: 100 });
  const service = await online({ scoringType: 'EXTERNAL', adapter: 'http', probeRate: 100 });
  await logged();
  await ingest();
  const rows = await evaluations();
  const shapeOf = (id: string) =>
    rows
      .filter((row) => row.evaluator_id === id)
      .map(({ probe, priority, state }) => [probe !== '', priority, state]);
  t.same(shapeOf(judge), [
    [false, 0, 'pending'],
    [true, 1, 'pending'],
  ]);
  t.same(shapeOf(python), [[false, 0, 'pending']]);
  t.same(shapeOf(service), [[false, 0, 'pending']]);
});

t.test('a share of what is sampled is probed, each kind about as often', async (t) => {
  const { online, logged, ingest, evaluations, scheduledFor } = await setUp(t);
  const choice = await online({ evaluatorId: FIXED_EVALUATOR, scoringType: 'LLM-CHOICE', probeRate: 100 });
  const range = await online({ scoringType: 'LLM-RANGE', probeRate: 100 });
  const few = await online({
    evaluatorId: '7d3c0b9e-3f50-4b0e-9a51-0c8f6a2f5d11',
    sampleRate: 50,
    probeRate: 20,
  });
  const none = await online({ sampleRate: 0, probeRate: 100 });
  for (const id of FIXED_IDS) await logged({ id });
  await ingest();
  const rows = (await evaluations()).filter(({ probe }) => probe !== '');
  const kindsOf = (evaluator: string) => {
    const kinds: Record<string, number> = {};
    for (const row of rows) {
      if (row.evaluator_id === evaluator) kinds[row.probe] = (kinds[row.probe] ?? 0) + 1;
    }
    return kinds;
  };
  // Of 400 draws one of four, by five standard deviations at most off.
  const kinds = kindsOf(choice);
  t.same(Object.keys(kinds).sort(), ['injection', 'order', 'padding', 'repeat']);
  for (const [kind, count] of Object.entries(kinds)) t.ok(Math.abs(count - 100) <= 43, `${kind}: ${count}`);
  t.same(
    Object.keys(kindsOf(range)).sort(),
    ['injection', 'padding', 'repeat'],
    'a scale has no order to change',
  );

  const sampled = await scheduledFor(few);
  const probed = rows.filter((row) => row.evaluator_id === few).map((row) => row.request_id);
  t.same(
    probed,
    sampled.filter((id) => samplingPoint(`${few}/probe`, id) < 20),
    'the same ones in every replay',
  );
  // Of 200 draws one in five.
  t.ok(Math.abs(probed.length - 40) <= 28, `${probed.length} of ${sampled.length}`);
  t.same(kindsOf(none), {});
});

t.test('a dead letter is scored like any record once it is stored after all', async (t) => {
  const { online, logged, ingest, sql, letters, scheduledFor } = await setUp(t);
  const evaluator = await online();
  await sql.unsafe(`
    create function assay.refuse() returns trigger language plpgsql as
      $$ begin raise exception 'not today' using errcode = '22000'; end $$;
    create trigger refuse before insert on assay.request_bodies execute function assay.refuse()`);
  t.teardown(() => sql`drop function assay.refuse() cascade`);
  const id = await logged();
  await ingest();
  t.equal(await letters(), 1);
  t.same(await scheduledFor(evaluator), []);
  await sql`drop trigger refuse on assay.request_bodies`;
  t.same(await retryAllDeadLetters(sql), { stored: 1, refused: 0 });
  t.same(await scheduledFor(evaluator), [id]);
});
