/** Comparisons of many items, beside judgments of pairs: what grows with the square of the items ends in the statement timeout. */
import t from 'tap';
import type { ComparisonJson } from '#core/contracts/comparison.ts';
import { BOOLEAN, startEvaluatorApi } from '../../../support/evaluators-process.ts';
import { insertAnswers, insertItems } from '../../../support/many-items.ts';

const ITEMS = 20_000;
const api = await startEvaluatorApi(t);
const { sql } = api.database;
const { organizationId } = api.own;

/** Makes an experiment whose every item was answered and scored. */
async function answered(
  datasetId: string,
  evaluatorId: string,
  name: string,
  expression: string,
): Promise<string> {
  const { id: experimentId } = await api.make<{ id: string }>('/v1/experiment', {
    name,
    datasetId,
    target: { kind: 'external' },
    evaluatorIds: [evaluatorId],
  });
  await insertAnswers(sql, { organizationId, experimentId, datasetId, name }, [{ evaluatorId, expression }]);
  return experimentId;
}

t.test('20,000 pairs are compared, and the answers judged in pairs are among them', async (t) => {
  const evaluator = await api.make<{ id: string }>('/v1/evaluator', { name: 'Helpful', ...BOOLEAN });
  const dataset = await api.make<{ id: string }>('/v1/dataset', { name: 'Many' });
  await insertItems(sql, { organizationId, datasetId: dataset.id, items: ITEMS });
  const baseline = await answered(dataset.id, evaluator.id, 'before', '(length(request_id) % 2)::int4');
  const candidate = await answered(dataset.id, evaluator.id, 'after', '1');
  // One pair in a hundred was judged in both orders, and the candidate won.
  const pairwise = await api.make<{ id: string }>('/v1/evaluator', {
    name: 'Better',
    scoring_type: 'LLM-PAIRWISE',
    llm_template: { model: 'gpt-4o-mini', prompt: 'Which is better?' },
  });
  await sql`
    insert into assay.evaluations
      (organization_id, evaluator_id, version, created_at, request_id, baseline_id, baseline_created_at, is_baseline_first, lane,
       priority, due_at, scheduled_at, state, score, finished_at)
    select ${organizationId}, ${pairwise.id}, 1, c.created_at, c.request_id, b.request_id, b.created_at, is_first, 'remote', 2,
           now(), now(), 'completed', 1, now()
      from generate_series(100, ${ITEMS}, 100) n
      join assay.requests c on c.organization_id = ${organizationId} and c.request_id = 'after' || n
      join assay.requests b on b.organization_id = ${organizationId} and b.request_id = 'before' || n
     cross join (values (true), (false)) as orders (is_first)`;
  const { candidates } = await api.make<ComparisonJson>('/v1/experiment/compare', {
    baseline,
    candidates: [candidate],
  });
  const { metrics, win_rates: winRates } = candidates[0]!;
  t.match(metrics[0], { name: 'Helpful', pairs: ITEMS, verdict: 'better' });
  t.match(winRates, [{ name: 'Better', pairs: ITEMS / 100, wins: ITEMS / 100 }]);
});
