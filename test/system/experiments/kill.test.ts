/** Experiments whose processes are killed at random: no run is lost, none is answered twice, and the cost is that of all calls. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { ExperimentJson } from '#core/contracts/experiment.ts';
import { type Assay, waitFor } from '../../support/assay.ts';
import { seededRandom } from '../../support/random.ts';
import type { Behaviour } from '../../support/scripted-provider.ts';
import { questions, startWorld } from './world.ts';

/** Runs of the experiment: 300 in CI; `EXPERIMENT_RUNS=10000 npm test -- test/system/experiments/kill.test.ts` for the whole. */
const RUNS = Number(process.env.EXPERIMENT_RUNS ?? 300);
const ROLES = ['gateway', 'ingest', 'evaluators', 'api'];
const WITHIN_MS = Math.max(200_000, RUNS * 300);

t.setTimeout(WITHIN_MS + 180_000);

/** The two roles that others wait for are asked; the others are ready soon after their start. */
async function isReady({ gatewayUrl, apiUrl }: Assay, role: string): Promise<boolean> {
  if (role !== 'gateway' && role !== 'api') return true;
  const url = role === 'gateway' ? gatewayUrl : apiUrl;
  return await fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

t.test('over kills of every role each run has one answer, and the cost is that of every call', async (t) => {
  const seed = Number(process.env.ASSAY_SEED ?? Date.now() % 1_000_000);
  t.comment(`ASSAY_SEED=${seed}`);
  const random = seededRandom(seed);
  const world = await startWorld(t);
  const { api, provider, sql, assay } = world;
  provider.script((): Behaviour => ({ kind: 'answer', text: 'Yes', delayMs: Math.round(random() * 200) }));
  const evaluator = await api<{ id: string }>('POST', '/v1/evaluator', {
    name: 'yes',
    scoring_type: 'PYTHON',
    code_template: { code: 'def evaluate(input, output):\n    return output == "Yes"' },
  });
  const datasetId = await world.dataset(questions(RUNS));
  const { id } = await api<ExperimentJson>('POST', '/v1/experiment', {
    name: 'Under fire',
    datasetId,
    target: { kind: 'model', model: 'gpt-4o-mini' },
    evaluatorIds: [evaluator.id],
    concurrency: 8,
  });
  let isOver = false;
  let kills = 0;
  const killing = (async () => {
    while (!isOver) {
      await sleep(random() * 3_000);
      const role = ROLES[Math.floor(random() * ROLES.length)]!;
      const before = assay.pidOf(role);
      assay.kill(role);
      kills += 1;
      // A busy machine needs seconds for a start, and a role that never serves makes no progress.
      await waitFor(`another ${role}`, () => assay.pidOf(role) !== before, 30_000);
      await waitFor(`the ${role} to serve`, () => isReady(assay, role), 30_000);
    }
  })();
  const hasRun = async () => {
    const [row] = await sql`select state from assay.experiments where experiment_id = ${id}`;
    return row!.state === 'completed';
  };
  const deadline = performance.now() + WITHIN_MS;
  while (!(await hasRun()) && performance.now() < deadline) await sleep(200);
  if (!(await hasRun())) {
    const states = await sql`
      select state, error_code, count(*)::int4 from assay.experiment_runs where experiment_id = ${id} group by 1, 2`;
    t.comment(`not over in time: ${JSON.stringify(states)}`);
  }
  isOver = true;
  await killing;
  t.comment(`${kills} kills, ${provider.requests.length} calls`);
  const ended = await world.ended(id, 'completed', 120_000);
  t.match(ended, { runs: RUNS, completed: RUNS, failed: 0, skipped: 0 });
  const runs = await world.runs(id);
  t.equal(new Set(runs.map(({ request_id }) => request_id)).size, RUNS, 'each run has an answer of its own');

  const [rows] = await sql`
    select count(*)::int4 as records, coalesce(sum(cost_nano), 0)::int8 as nano
      from assay.requests where experiment_id = ${id}`;
  const [counted] = await sql`
    select spent_nano from assay.experiments where experiment_id = ${id}`;
  t.equal(counted!.spent_nano, rows!.nano, 'the cost is that of its records');
  const answered = await sql`
    select r.request_id from assay.requests r where r.experiment_id = ${id} and r.status = 200`;
  t.ok(answered.length <= provider.requests.length);
  const [graded] = await sql`
    select count(*)::int4 as scores, count(distinct x.request_id)::int4 as answers
      from assay.experiment_runs x
      join assay.evaluations e on e.organization_id = x.organization_id and e.request_id = x.request_id
     where x.experiment_id = ${id} and e.state = 'completed' and e.score = 1`;
  t.same(graded, { scores: RUNS, answers: RUNS }, 'each answer is graded once');
});
