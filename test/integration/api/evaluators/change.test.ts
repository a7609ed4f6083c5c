import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { claim, PAUSED, settle } from '../../../../evaluators/queue/mod.ts';
import {
  BOOLEAN,
  CODE,
  type Evaluator,
  type EvaluatorApi,
  EXTERNAL,
  PYTHON,
  RANGE,
  secretBox,
  startEvaluatorApi,
} from '../../../support/evaluators-process.ts';
import { insertEvaluations } from './seed-evaluations.ts';

let api: EvaluatorApi;
t.before(async () => {
  api = await startEvaluatorApi(t);
});

const put = (id: string, body: object) => api.call(`/v1/evaluator/${id}`, { method: 'PUT', body });
const change = (id: string, body: object) => api.make(`/v1/evaluator/${id}`, body, 'PUT');
const versionsOf = (id: string) => api.database.sql`
  select version, llm_template, code_template, external_config, secrets
  from assay.evaluator_versions where evaluator_id = ${id} order by version`;

t.test(
  'a changed template makes a new version of an evaluator, and the previous one stays unchanged',
  async (t) => {
    const made = await api.make('/v1/evaluator', { name: 'Versions', ...RANGE, daily_budget_usd: 2 });
    const llm_template = { ...RANGE.llm_template, max: 10 };
    const changed = await change(made.id, { llm_template });
    t.strictSame({ ...changed, updated_at: '' }, { ...made, version: 2, llm_template, updated_at: '' });
    t.ok((changed.updated_at as string) >= (made.updated_at as string));
    t.match(await versionsOf(made.id), [
      { version: 1, llm_template: RANGE.llm_template },
      { version: 2, llm_template },
    ]);
  },
);

t.test('a changed threshold makes a new version with the same definition', async (t) => {
  const made = await api.make('/v1/evaluator', { name: 'Strict', ...EXTERNAL, threshold: 0.9 });
  t.equal(made.threshold, 0.9);
  t.match(await change(made.id, { name: 'Stricter' }), { version: 1, threshold: 0.9 });
  t.match(await change(made.id, { threshold: 0.9 }), { version: 1 }, 'an equal one makes none');
  t.match(await change(made.id, { threshold: null }), { version: 2, threshold: null });
  t.match(await change(made.id, { threshold: 0 }), { version: 3, threshold: 0 });
  const stored = await versionsOf(made.id);
  t.strictSame({ ...stored[2], version: 1 }, stored[0], 'with its secrets');
  t.match(await api.make(`/v1/evaluator/${made.id}/versions`), [
    { version: 3, threshold: 0 },
    { version: 2, threshold: null },
    { version: 1, threshold: 0.9 },
  ]);
});

t.test('a threshold that the scores of a changed definition cannot have is refused', async (t) => {
  const made = await api.make('/v1/evaluator', { name: 'Narrowed', ...RANGE, threshold: 5 });
  const llm_template = { ...RANGE.llm_template, max: 3 };
  const { status, body } = await put(made.id, { llm_template });
  t.strictSame(
    [status, body.error],
    [
      400,
      'threshold must be a number from 1 to 3, the scores that the evaluator can give, but is 5, as in the version before: give another one, or null',
    ],
  );
  t.match(await change(made.id, { llm_template, threshold: 2 }), { version: 2, threshold: 2 });
});

t.test('a changed name or budget, or an equal template, makes no new version of an evaluator', async (t) => {
  const made = await api.make('/v1/evaluator', { name: 'Renamed', ...PYTHON });
  const judge = await api.make('/v1/evaluator', { name: 'Budgeted', ...BOOLEAN });
  const compiled = api.process.bodies.length;
  t.match(await change(made.id, { name: 'Renamed again', code_template: { code: CODE } }), {
    name: 'Renamed again',
    version: 1,
  });
  t.equal(api.process.bodies.length, compiled, 'and compiles nothing');
  t.match(await change(judge.id, { daily_budget_usd: 0.5 }), { version: 1, daily_budget_usd: 0.5 });
  t.match(
    await change(judge.id, { name: 'Budgeted 2' }),
    { daily_budget_usd: 0.5 },
    'what is left out stays',
  );
  t.match(await change(judge.id, { daily_budget_usd: null }), { version: 1, daily_budget_usd: null });
  t.match(await change(judge.id, { scoring_type: 'LLM-BOOLEAN', llm_template: BOOLEAN.llm_template }), {
    version: 1,
  });
  t.equal((await versionsOf(judge.id)).length, 1);
});

t.test('an invalid change of an evaluator is refused with its reason, and nothing changes', async (t) => {
  const made = await api.make('/v1/evaluator', { name: 'Steady', ...PYTHON });
  const other = await api.make('/v1/evaluator', { name: 'Other', ...RANGE });
  const REFUSALS: [string, object, number, string][] = [
    [
      made.id,
      { scoring_type: 'EXTERNAL' },
      400,
      'scoring_type cannot change: it is PYTHON, but EXTERNAL is asked for; make another evaluator',
    ],
    [
      made.id,
      {},
      400,
      'body must hold at least one of name, llm_template, code_template, external_config, daily_budget_usd, threshold',
    ],
    [made.id, { id: made.id }, 400, 'id is not a known field'],
    [made.id, { llm_template: {} }, 400, 'llm_template does not belong to the scoring_type PYTHON'],
    [made.id, { name: '' }, 400, 'name must have 1 to 100 characters, but has 0'],
    [made.id, { daily_budget_usd: 1 }, 400, 'daily_budget_usd does not belong to the scoring_type PYTHON'],
    [
      made.id,
      { code_template: { code: 'syntax error' } },
      400,
      'code_template.code cannot be used: SyntaxError: invalid syntax (line 2, column 5)',
    ],
    [other.id, { llm_template: { model: 'm', prompt: 'p', min: 1 } }, 400, 'llm_template.max is required'],
    [
      other.id,
      { name: 'steady' },
      409,
      `The name "steady" has the score key "steady", which is that of the evaluator "Steady": ${made.id}`,
    ],
    [other.id, { name: 'Steady' }, 409, `There is an evaluator named "Steady" already: ${made.id}`],
  ];
  for (const [id, body, status, sentence] of REFUSALS) {
    const answer = await put(id, body);
    t.strictSame([answer.status, answer.body.error], [status, sentence]);
  }
  t.strictSame(await api.make(`/v1/evaluator/${made.id}`), made);
  t.strictSame(await api.make(`/v1/evaluator/${other.id}`), other);
});

t.test('concurrent changes of an evaluator make versions without a gap, and none is lost', async (t) => {
  const made = await api.make('/v1/evaluator', { name: 'Raced', ...RANGE });
  const answers = await Promise.all(
    [11, 12, 13, 14].map((max) => put(made.id, { llm_template: { ...RANGE.llm_template, max } })),
  );
  const done = answers.filter(({ status }) => status === 200).map(({ body }) => body.data as Evaluator);
  t.equal(done.length, 4);
  t.strictSame(done.map(({ version }) => version).sort(), [2, 3, 4, 5]);
  const stored = await versionsOf(made.id);
  t.strictSame(
    stored.map(({ version }) => version),
    [1, 2, 3, 4, 5],
  );
  for (const one of done) {
    t.strictSame(
      stored[one.version - 1]!.llm_template,
      one.llm_template,
      'each answer shows its own version',
    );
  }
  t.strictSame(
    (await api.make(`/v1/evaluator/${made.id}`)).llm_template,
    stored[4]!.llm_template,
    'and the last is current',
  );
});

t.test('concurrent swaps of evaluator names cause no internal error', async (t) => {
  const [one, two] = await Promise.all([
    api.make('/v1/evaluator', { name: 'Swap one', ...RANGE }),
    api.make('/v1/evaluator', { name: 'Swap two', ...RANGE }),
  ]);
  const answers = await Promise.all([
    put(one!.id, { name: 'Swap two' }),
    put(two!.id, { name: 'Swap one' }),
    put(one!.id, { name: 'Swap three' }),
    put(two!.id, { name: 'Swap three' }),
  ]);
  t.ok(answers.every(({ status }) => status === 200 || status === 409));
});

t.test('a secret omitted from a change is kept, and sealed for the new version', async (t) => {
  const made = await api.make('/v1/evaluator', { name: 'Secret', ...EXTERNAL });
  const secretsOf = async () => {
    const rows = await versionsOf(made.id);
    const owner = { organizationId: api.own.organizationId, evaluatorId: made.id };
    return rows.map(({ secrets }) => secretBox.open(secrets, owner)['headers.authorization']);
  };
  const same = await change(made.id, { external_config: made.external_config });
  t.equal(same.version, 1, 'what was shown can be sent back');
  const { headers: _, ...bare } = EXTERNAL.external_config;
  await change(made.id, { external_config: { ...bare, timeoutMs: 500 } });
  t.strictSame(await secretsOf(), ['Bearer very-secret-token', 'Bearer very-secret-token']);
  const renewed = await change(made.id, {
    external_config: { ...bare, timeoutMs: 500, headers: { authorization: 'Bearer another-token' } },
  });
  t.equal(renewed.version, 3, 'a new secret is a new version, though it looks the same');
  t.equal((await secretsOf())[2], 'Bearer another-token');
  t.notMatch(JSON.stringify(renewed), 'token');
  const moved = await put(made.id, {
    external_config: { adapter: 'http', url: 'https://public.elsewhere.example.com/' },
  });
  t.strictSame(
    [moved.status, moved.body.error],
    [
      400,
      'external_config.headers.authorization must be given again, because external_config.url is another one',
    ],
    'and it does not follow to another address',
  );
});

t.test('a change overtaken by another is based on the new version, and restores no old secret', async (t) => {
  const made = await api.make('/v1/evaluator', { name: 'Overtaken', ...EXTERNAL });
  const { headers: _, ...bare } = EXTERNAL.external_config;
  const { sql } = api.database;
  const waiting = async (count: number) => {
    for (let look = 0; look < 200; look += 1) {
      const [row] = await sql`
        select count(*)::int4 as count from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`;
      if (row!.count === count) return;
      await sleep(10);
    }
    throw new Error('nobody waits');
  };
  const answers = await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${`assay.evaluators ${api.own.organizationId}`}, 0))`;
    const renewing = put(made.id, {
      external_config: { ...bare, headers: { authorization: 'Bearer renewed-token' } },
    });
    await waiting(1);
    const keeping = put(made.id, { external_config: { ...bare, timeoutMs: 900 } });
    await waiting(2);
    return { renewing, keeping };
  });
  for (const answer of [await answers.renewing, await answers.keeping]) t.equal(answer.status, 200);
  const last = (await versionsOf(made.id)).at(-1)!;
  t.match(last, { version: 3, external_config: { timeoutMs: 900 } });
  const owner = { organizationId: api.own.organizationId, evaluatorId: made.id };
  t.strictSame(secretBox.open(last.secrets, owner), { 'headers.authorization': 'Bearer renewed-token' });
});

t.test(
  'evaluations that have not begun end with their evaluator, before those of others have waited',
  async (t) => {
    const made = await api.make('/v1/evaluator', { name: 'With a backlog', ...RANGE });
    const other = await api.make('/v1/evaluator', { name: 'Behind it', ...RANGE });
    const states = ['pending', 'paused', 'running', 'completed', 'error', 'pending'];
    await insertEvaluations(api, [
      ...states.map((state) => ({ evaluator_id: made.id, state })),
      { evaluator_id: other.id, state: 'pending' },
    ]);
    const { sql } = api.database;
    const [before] = await sql<{ last: string }[]>`select coalesce(max(seq), 0) as last from assay.changes`;
    await api.call(`/v1/evaluator/${made.id}`, { method: 'DELETE' });
    const statesOf = async (evaluatorId: string) =>
      (
        await sql<{ state: string; error_code: string | null; finished_at: Date | null }[]>`
        select state, error_code, finished_at from assay.evaluations where evaluator_id = ${evaluatorId}
         order by evaluation_id`
      ).map(({ state, error_code, finished_at }) =>
        state === 'skipped' ? [error_code, finished_at !== null] : state,
      );
    const skipped = ['evaluator_deleted', true];
    t.same(await statesOf(made.id), [skipped, skipped, 'running', 'completed', 'error', skipped]);
    t.same(await statesOf(other.id), ['pending']);
    const noted = await sql<{ details: { state: string }[] }[]>`
    select details from assay.changes where seq > ${before!.last} and kind = 'evaluation'`;
    t.same(
      noted.flatMap(({ details }) => details.map(({ state }) => state)),
      ['skipped', 'skipped', 'skipped'],
      'sinks hear of it',
    );
  },
);

t.test(
  'an evaluation under way when its paused evaluator is deleted waits for nobody to resume it',
  async (t) => {
    const { sql } = api.database;
    for (const end of ['a pause', 'a failure that pauses']) {
      const made = await api.make('/v1/evaluator', { name: `Paused by ${end}`, ...RANGE });
      await insertEvaluations(api, [{ evaluator_id: made.id, state: 'pending' }]);
      const rest = { limit: 1_000, roomByOrganization: new Map<string, number>(), roomOfOthers: 1_000 };
      const { jobs } = await claim(sql, { lane: 'remote', ...rest });
      const job = jobs.find(({ evaluator }) => evaluator.id === made.id)!;
      if (end === 'a pause')
        await sql`update assay.evaluators set paused_reason = 'auth' where evaluator_id = ${made.id}`;
      await api.call(`/v1/evaluator/${made.id}`, { method: 'DELETE' });
      const next = end === 'a pause' ? PAUSED : { ...PAUSED, pause: 'auth' as const };
      t.equal(await settle(sql, job, next, null), true);
      const [row] = await sql`select state from assay.evaluations where evaluator_id = ${made.id}`;
      t.same(row, { state: 'pending' }, `${end}: the next claim ends it`);
    }
  },
);

t.test('a deleted evaluator is unknown, its name is free, and its scores are kept', async (t) => {
  const made = await api.make('/v1/evaluator', { name: 'Short-lived', ...RANGE });
  const path = `/v1/evaluator/${made.id}`;
  await api.make(`${path}/onlineEvaluators`, { config: { sampleRate: 10 } });
  const run = await api.make(`${path}/run`, { filter: 'all' });
  const deleted = await api.call(path, { method: 'DELETE' });
  t.strictSame([deleted.status, deleted.body], [200, { data: null, error: null }]);
  const { sql } = api.database;
  t.strictSame(
    [...(await sql`select 1 from assay.online_evaluators where evaluator_id = ${made.id}`)],
    [],
    'it scores no more',
  );
  t.match(await sql`select state from assay.evaluation_runs where run_id = ${run.id}`, [
    { state: 'cancelled' },
  ]);
  for (const [method, inner, body] of [
    ['GET', '', undefined],
    ['PUT', '', { name: 'x' }],
    ['DELETE', '', undefined],
    ['GET', '/stats', undefined],
    ['GET', '/runs', undefined],
    ['GET', '/onlineEvaluators', undefined],
    ['POST', '/run', { filter: 'all' }],
    ['POST', '/resume', undefined],
    ['POST', `/run/${run.id}/resume`, undefined],
  ] as const) {
    const answer = await api.call(`${path}${inner}`, body === undefined ? { method } : { method, body });
    t.strictSame(
      [answer.status, answer.body.error],
      [404, `There is no evaluator with the id "${made.id}"`],
      `${method} ${inner}`,
    );
  }
  t.equal((await versionsOf(made.id)).length, 1);
  const again = await api.make('/v1/evaluator', { name: 'Short-lived', ...RANGE });
  t.not(again.id, made.id);
});
