/** Datasets and experiments of many items, written to the tables as the API, ingest and the evaluators write them. */
import type { Sql } from '#platform/postgres/mod.ts';

/** Writes a version of an empty dataset with this many items, whose ids are `item 1` and so on. */
export async function insertItems(
  sql: Sql,
  { organizationId, datasetId, items }: { organizationId: string; datasetId: string; items: number },
): Promise<void> {
  await sql`select assay.ensure_partitions(now()::date)`;
  await sql`update assay.datasets set last_version = 1 where dataset_id = ${datasetId}`;
  await sql`
    insert into assay.dataset_items (dataset_id, item_id, from_version, organization_id, request, content_sha256)
    select ${datasetId}, 'item ' || n, 1, ${organizationId}, '{}', sha256(n::text::bytea) from generate_series(1, ${items}) n`;
}

/**
 * Writes that every item of an experiment of external answers was answered and scored. The requests of its answers have the
 * ids `name`1, `name`2 and so on, in the order of the items' ids.
 * @param scores of each evaluator an expression of PostgreSQL over the request, such as `random()`
 */
export async function insertAnswers(
  sql: Sql,
  experiment: { organizationId: string; experimentId: string; datasetId: string; name: string },
  scores: readonly { evaluatorId: string; expression: string }[],
): Promise<void> {
  const { organizationId, experimentId, datasetId, name } = experiment;
  await sql`
    with items as (
      select item_id, row_number() over (order by item_id) as n from assay.dataset_items where dataset_id = ${datasetId}
    ), answered as (
      insert into assay.requests (organization_id, created_at, request_id, source, path, provider, model, request_model, status,
        latency_ms, total_tokens, cost_nano, properties_folded, is_stream, truncated)
      select ${organizationId}, date_trunc('milliseconds', now()), ${name} || n, 'experiment', '/v1/chat/completions', 'OPENAI', 'gpt-4o', 'gpt-4o', 200,
             n * 7919 % 1000, n * 104729 % 500, n * 1299709 % 100000, '{}', false, false from items
    )
    insert into assay.experiment_runs
      (experiment_id, item_id, repetition, organization_id, position, state, request_id, due_at, finished_at)
    select ${experimentId}, item_id, 2, ${organizationId}, n + 10, 'completed', ${name} || n, now(), now() from items`;
  for (const { evaluatorId, expression } of scores) {
    await sql`
      insert into assay.evaluations
        (organization_id, evaluator_id, version, created_at, request_id, run_id, lane, priority, due_at, scheduled_at, state, score,
         finished_at)
      select ${organizationId}, ${evaluatorId}, 1, r.created_at, r.request_id, ${experimentId}, 'remote', 2, now(), now(),
             'completed', ${sql.unsafe(expression)}, now()
        from assay.requests r where r.organization_id = ${organizationId} and r.request_id like ${`${name}%`}`;
  }
}
