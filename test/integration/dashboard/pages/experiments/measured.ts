/** Experiments that stories find when they begin, answered and graded as the evaluators and ingest write it. */
import type { ExperimentJson } from '#core/contracts/experiment.ts';
import type { Stage } from '../../../../support/browser/mod.ts';
import { callAs } from '../as.ts';

type Given = Pick<Stage, 'organization' | 'product'>;
export type Answer = { score?: number; cost?: number; latency?: number; isError?: boolean; text?: string };

/** Makes a dataset with so many items, named `item 000` and so on. */
export async function makeDataset(
  given: Given,
  { name = 'Refunds', items = 4, member = {} as object } = {},
): Promise<{ id: string; itemIds: string[] }> {
  const { id } = await callAs<{ id: string }>(given, 'POST', '/v1/dataset', { name });
  await callAs(given, 'POST', `/v1/dataset/${id}/items`, {
    items: Array.from({ length: items }, (_, index) => ({
      externalId: `item ${String(index).padStart(3, '0')}`,
      request: { model: 'gpt-4o', messages: [{ role: 'user', content: `Question ${index}` }] },
      expected: `Answer ${index}`,
      ...member,
    })),
    message: 'The first',
  });
  const rows = await given.product.database.sql<{ id: string }[]>`
    select item_id as id from assay.dataset_items where dataset_id = ${id} order by external_id`;
  return { id, itemIds: rows.map((row) => row.id) };
}

export type Wanted = {
  name: string;
  datasetId: string;
  evaluatorIds?: string[];
  target?: object;
  maxCost?: number;
};

/** Makes an experiment; without a target, one whose answers a job brings. */
export function makeExperiment(
  given: Given,
  { target = { kind: 'external' }, ...body }: Wanted,
): Promise<ExperimentJson> {
  return callAs<ExperimentJson>(given, 'POST', '/v1/experiment', { ...body, target });
}

/** Answers the items of an experiment in the order of their names. */
export async function answer(
  { organization, product: { database } }: Given,
  { id, evaluators }: Pick<ExperimentJson, 'id' | 'evaluators'>,
  { itemIds, answers }: { itemIds: readonly string[]; answers: readonly Answer[] },
): Promise<string[]> {
  const { sql } = database;
  const requests = await organization.insert(
    answers.map(({ cost = 1_000_000, latency = 100, text = 'Yes' }) => ({
      cost_nano: cost,
      latency_ms: latency,
      total_tokens: 10,
      source: 'experiment',
      request_text: JSON.stringify({ messages: [{ role: 'user', content: 'May I?' }] }),
      response_text: JSON.stringify({ choices: [{ message: { role: 'assistant', content: text } }] }),
    })),
  );
  for (const [index, { score = 1, isError = false }] of answers.entries()) {
    const { request_id, created_at } = requests[index]!;
    await sql`
      update assay.experiment_runs
         set state = ${isError ? 'error' : 'completed'}, request_id = ${isError ? null : request_id}, finished_at = now(),
             error_code = ${isError ? 'provider_error' : null}, error_message = ${isError ? 'The provider is down' : null}
       where experiment_id = ${id} and item_id = ${itemIds[index]!}`;
    for (const evaluator of isError ? [] : evaluators) {
      await sql`
        insert into assay.evaluations
          (organization_id, evaluator_id, version, created_at, request_id, run_id, lane, priority, due_at, scheduled_at,
           state, score, finished_at)
        values (${organization.organizationId}, ${evaluator.id}, 1, ${created_at}, ${request_id}, ${id}, 'python', 2, now(),
                now(), 'completed', ${score}, now())`;
    }
  }
  return requests.map(({ request_id }) => request_id);
}

/** Makes an evaluator whose scores the stories write themselves: a judge that answers yes or no, or a service that gives numbers. */
export function makeScorer(
  given: Given,
  name: string,
  kind: 'binary' | 'numeric' = 'binary',
): Promise<{ id: string }> {
  const definition =
    kind === 'binary'
      ? {
          scoring_type: 'LLM-BOOLEAN',
          llm_template: { model: 'gpt-4o-mini', prompt: 'Is {{output}} right?' },
        }
      : { scoring_type: 'EXTERNAL', external_config: { url: 'https://example.com/score' } };
  return callAs(given, 'POST', '/v1/evaluator', { name, ...definition });
}
