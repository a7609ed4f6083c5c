/** Which requests an online evaluator is given, and with which probes: through ingest as it runs. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { isSampled, samplingPoint } from '#core/scoring/mod.ts';
import {
  FIXED_EVALUATOR,
  FIXED_IDS,
  OTHER_ORGANIZATION,
  SUCCEEDED,
  scheduleWorld,
} from './schedule-world.ts';

const setUp = await scheduleWorld(t);

t.test('an evaluator gets its share of the requests, chosen by the hash of both ids', async (t) => {
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

t.test('a request must match all property filters: names ignore case, values do not', async (t) => {
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

t.test("an online evaluator's filter selects the same records as a query with it", async (t) => {
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

t.test('a filter checks each record of a batch, however far apart their times are', async (t) => {
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

t.test('a request must pass sampling, property filters and filter', async (t) => {
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

t.test('calls that evaluators make are not scored', async (t) => {
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

t.test('a deleted evaluator gets no more records', async (t) => {
  const { online, logged, ingest, evaluations, stored } = await setUp(t);
  await online({ deleted: true });
  const id = await logged();
  await ingest();
  t.same(await stored(), [id]);
  t.same([...(await evaluations())], []);
});

t.test('the evaluations of a paused evaluator wait for it, and are not lost', async (t) => {
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

t.test('an evaluator that is online twice scores a request that matches both once', async (t) => {
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

t.test('probes are scheduled beside evaluations and after them, for judges only', async (t) => {
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

t.test('a share of the sampled requests is probed, each kind about as often', async (t) => {
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
