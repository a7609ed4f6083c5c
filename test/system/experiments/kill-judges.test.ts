/** Juries, rubrics and pairs whose evaluators process is killed at random: each judgment counts once, and so does its cost. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { ExperimentJson } from '#core/contracts/experiment.ts';
import { MAX_ATTEMPTS } from '../../../evaluators/queue/mod.ts';
import { waitFor } from '../../support/assay.ts';
import { seededRandom } from '../../support/random.ts';
import type { Behaviour } from '../../support/scripted-provider.ts';
import { questions, startWorld } from './world.ts';

const ITEMS = 40;
/** One that is under way at each kill has an attempt left: on a slow machine nothing may be judged between two. */
const KILLS = MAX_ATTEMPTS - 1;

const seed = Number(process.env.ASSAY_SEED ?? Date.now() % 1_000_000);
const random = seededRandom(seed);
const world = await startWorld(t);
const { api, provider, sql, assay } = world;

provider.script((request): Behaviour => {
  const { model, messages } = JSON.parse(request.body.toString()) as {
    model: string;
    messages: { content: string }[];
  };
  const usage = { promptTokens: 100, completionTokens: 10 };
  const delayMs = Math.round(random() * 150);
  if (!model.startsWith('gpt-4.1')) return { kind: 'answer', text: `By ${model}.`, usage };
  const said = messages.map(({ content }) => content).join('\n');
  const yes = { reasoning: 'Yes.', score: true };
  const verdict = said.includes('criterion_1')
    ? { criterion_1: yes, criterion_2: yes }
    : said.includes('Answer A:')
      ? { reasoning: 'Equal.', score: 'tie' }
      : yes;
  const call = { name: 'submit_verdict', arguments: JSON.stringify(verdict) };
  return { kind: 'answer', text: null, toolCalls: [call], usage, delayMs };
});

/** Kills the evaluators again and again, each time as if their leases had ended meanwhile. */
async function killEvaluators(): Promise<void> {
  for (let kill = 0; kill < KILLS; kill += 1) {
    await sleep(300 + random() * 1_500);
    const before = assay.pidOf('evaluators');
    assay.kill('evaluators');
    await waitFor('other evaluators', () => assay.pidOf('evaluators') !== before, 30_000);
    await sql`update assay.evaluations set due_at = now() where state = 'running'`;
    await sql`select pg_notify('assay_evaluations', '')`;
  }
}

const evaluator = (name: string, scoring_type: string, llm_template: object) =>
  api<{ id: string }>('POST', '/v1/evaluator', {
    name,
    scoring_type,
    llm_template: { model: 'gpt-4.1', ...llm_template },
  });

const statesOf = (runId: string) => sql`
  select v.name, e.state, count(*)::int4 as count, count(distinct (e.request_id, e.is_baseline_first))::int4 as subjects,
         coalesce(sum(jsonb_array_length(e.members)), 0)::int4 as members
    from assay.evaluations e join assay.evaluators v using (evaluator_id)
   where e.run_id = ${runId} group by 1, 2 order by 1`;

t.test(
  'over kills, juries, rubrics and pairs judge everything once, for what their calls cost',
  async (t) => {
    t.comment(`ASSAY_SEED=${seed}`);
    const [one, other] = [
      await evaluator('one', 'LLM-BOOLEAN', { prompt: 'Is it right?' }),
      await evaluator('other', 'LLM-BOOLEAN', { prompt: 'Is it kind?' }),
    ];
    const rubric = await evaluator('rubric', 'LLM-RUBRIC', {
      prompt: 'A chat.',
      criteria: [{ id: one.id }, { id: other.id }],
    });
    const jury = await evaluator('jury', 'LLM-BOOLEAN', {
      prompt: 'Is it good?',
      jury: { models: ['gpt-4.1-mini', 'gpt-4.1-nano'] },
    });
    const datasetId = await world.dataset(questions(ITEMS));
    const make = (model: string, evaluatorIds: string[]) =>
      api<ExperimentJson>('POST', '/v1/experiment', {
        name: model,
        datasetId,
        target: { kind: 'model', model },
        evaluatorIds,
      });
    const baseline = await make('gpt-4o-mini', []);
    await world.ended(baseline.id);
    const candidate = await make('gpt-4o', [rubric.id, jury.id]);
    await killEvaluators();
    await world.ended(candidate.id, 'completed', 120_000);
    t.same(await statesOf(candidate.id), [
      { name: 'jury', state: 'completed', count: ITEMS, subjects: ITEMS, members: 3 * ITEMS },
      { name: 'one', state: 'completed', count: ITEMS, subjects: ITEMS, members: 0 },
      { name: 'other', state: 'completed', count: ITEMS, subjects: ITEMS, members: 0 },
      { name: 'rubric', state: 'completed', count: ITEMS, subjects: ITEMS, members: 0 },
    ]);

    const pairs = await evaluator('pairs', 'LLM-PAIRWISE', { prompt: 'Which is better?' });
    const path = `/v1/evaluator/${pairs.id}/pairwise`;
    const sides = { baseline: baseline.id, candidate: candidate.id };
    const { id: runId } = await api<{ id: string }>('POST', path, sides);
    await killEvaluators();
    await waitFor(
      'all judgments',
      async () =>
        (await api<{ run: { state: string } }>('GET', `${path}/${runId}`)).run.state === 'completed',
      120_000,
    );
    t.same(await statesOf(runId), [
      { name: 'pairs', state: 'completed', count: 2 * ITEMS, subjects: 2 * ITEMS, members: 0 },
    ]);

    // A call that was under way when its process died is in the log, and was paid, though no evaluation has it.
    const costs = async () => {
      const [row] = await sql<{ logged: string; spent: string; calls: number }[]>`
      select (select coalesce(sum(cost_nano), 0) from assay.requests where source = 'evaluator') as logged,
             (select coalesce(sum(cost_nano), 0) from assay.evaluation_spend) as spent,
             (select count(*)::int4 from assay.requests where source = 'evaluator') as calls`;
      return row!;
    };
    await waitFor('the records of all calls', async () => {
      const { logged, spent } = await costs();
      return logged === spent;
    });
    const { calls } = await costs();
    t.ok(calls >= 6 * ITEMS, `${calls} calls of judges for ${6 * ITEMS} judgments`);
  },
);
