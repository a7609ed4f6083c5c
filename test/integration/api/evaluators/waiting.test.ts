/** The API reports why evaluations wait, from the facts of evaluators processes; here a real one without a sandbox. */
import t, { type Test } from 'tap';
import { reportProcess } from '#platform/processes/mod.ts';
import {
  BOOLEAN,
  type EvaluatorApi,
  EXTERNAL,
  PYTHON,
  SECRET_KEY_TEXT,
  startEvaluatorApi,
} from '../../../support/evaluators-process.ts';
import { createWorld, silentLog as log } from '../../../support/world.ts';
import { insertEvaluations } from './seed-evaluations.ts';

const read = () => ({ held: 0 });
const SCORER = {
  scoring_type: 'EXTERNAL',
  external_config: { adapter: 'autoevals', scorer: 'ExactMatch', expected: 'Paris' },
};

/** Makes evaluators of each kind while a process with a sandbox is there, and lets that process end. */
async function setUp(t: Test) {
  const api = await startEvaluatorApi(t);
  const make = (name: string, kind: object) => api.make('/v1/evaluator', { name, ...kind });
  const made = {
    python: await make('Python', PYTHON),
    scorer: await make('Scorer', SCORER),
    judge: await make('Judge', BOOLEAN),
    service: await make('Service', EXTERNAL),
  };
  t.match(made.python, { waiting: null }, 'nothing waits while a process with a sandbox runs');
  await api.process.stop();
  return { api, made };
}

/** An evaluators process of a machine without Python. */
async function startWithoutSandbox(t: Test, api: EvaluatorApi) {
  const world = await createWorld(t, api.database);
  await world.start('evaluators', { SECRET_KEY: SECRET_KEY_TEXT, PYTHON: '/no/such/python3' });
}

const waitingOf = async (api: EvaluatorApi, path: string) => (await api.make(path)).waiting;

t.test(
  'without a sandbox, Python evaluators and scorers report why they wait; judges and services do not wait',
  async (t) => {
    const { api, made } = await setUp(t);
    await startWithoutSandbox(t, api);
    const sentence =
      /^Evaluations wait for an evaluators process with a sandbox for Python, which none that runs has: .*python/;
    for (const { id } of [made.python, made.scorer]) {
      t.match(await waitingOf(api, `/v1/evaluator/${id}`), sentence);
      const [pending, skipped] = await insertEvaluations(api, [
        { evaluator_id: id, lane: 'python', due_at: new Date(Date.now() + 60_000) },
        { evaluator_id: id, lane: 'python', state: 'skipped', error_code: 'truncated' },
      ]);
      t.match(await waitingOf(api, `/v1/evaluation/${pending}`), sentence);
      t.equal(await waitingOf(api, `/v1/evaluation/${skipped}`), null, 'what has ended does not wait');
    }
    for (const { id } of [made.judge, made.service]) {
      t.equal(await waitingOf(api, `/v1/evaluator/${id}`), null);
    }
    const listed = await api.make<{ name: string; waiting: string | null }[]>('/v1/evaluator/query', {});
    t.strictSame(
      listed
        .filter(({ waiting }) => waiting !== null)
        .map(({ name }) => name)
        .sort(),
      ['Python', 'Scorer'],
    );

    const refused = await api.call('/v1/evaluator', { body: { name: 'More', ...PYTHON } });
    t.equal(refused.status, 503);
    t.match(refused.body.error, /^Python cannot be run safely here: .*python/);

    const facts = { sandbox: 'process', why: 'chroot: it needs root' };
    const { sql } = api.database;
    const other = await reportProcess({ sql, log, role: 'evaluators', facts, read });
    t.equal(await waitingOf(api, `/v1/evaluator/${made.python.id}`), null, 'another process has one');
    await other.stop();
    t.match(await waitingOf(api, `/v1/evaluator/${made.python.id}`), sentence);
  },
);

t.test('while no evaluators process runs, every evaluator reports that it waits for one', async (t) => {
  const { api, made } = await setUp(t);
  for (const { id } of Object.values(made)) {
    t.equal(await waitingOf(api, `/v1/evaluator/${id}`), 'Evaluations wait, as no evaluators process runs');
  }
  const [id] = await insertEvaluations(api, [{ evaluator_id: made.judge.id }]);
  t.equal(await waitingOf(api, `/v1/evaluation/${id}`), 'Evaluations wait, as no evaluators process runs');
});

t.test(
  'an evaluators process is counted on while it reports itself, and not once it has been silent for 35 seconds',
  async (t) => {
    const { api, made } = await setUp(t);
    const { sql } = api.database;
    const facts = { sandbox: 'chroot', why: null };
    const alive = await reportProcess({ sql, log, role: 'evaluators', facts, read, everyMs: 20 });
    t.teardown(() => alive.stop());
    const age = () => sql`update assay.processes set at = now() - interval '36 seconds'`;
    await age();
    for (;;) if ((await waitingOf(api, `/v1/evaluator/${made.python.id}`)) === null) break;
    await alive.stop();
    const killed = await reportProcess({ sql, log, role: 'evaluators', facts, read });
    t.teardown(() => killed.stop());
    await age();
    t.match(await waitingOf(api, `/v1/evaluator/${made.python.id}`), /no evaluators process runs/);
  },
);
