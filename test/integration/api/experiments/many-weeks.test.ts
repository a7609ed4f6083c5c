/** Comparisons beside a log of many weeks. */
import t from 'tap';
import type { ComparisonJson } from '#core/contracts/comparison.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { findMeasured } from '../../../../api/experiments/measured.ts';
import { BOOLEAN, startEvaluatorApi } from '../../../support/evaluators-process.ts';
import { insertItems } from '../../../support/many-items.ts';
import { rowsRead } from '../../../support/rows-read.ts';
import { insertRequests } from '../../../support/seed-requests.ts';

const WEEKS = 40;
const ITEMS = 200;
const api = await startEvaluatorApi(t);
const { sql } = api.database;
const { organizationId } = api.own;

t.before(async () => {
  for (let week = 1; week <= WEEKS; week += 1) {
    const begins = new Date(Math.floor(Date.now() / 1_000) * 1_000 - week * 7 * 86_400_000);
    await sql`select assay.ensure_partitions(${begins})`;
    await sql`
      insert into assay.requests (organization_id, created_at, request_id, source, path, provider, model, status, is_stream, truncated)
      select ${organizationId}, ${begins}::timestamptz + n * interval '1 second', ${week} || '-' || n, 'gateway', '/', 'OPENAI', 'm', 200,
             false, false
        from generate_series(1, 1000) n`;
  }
});

/** Makes an experiment whose every item was answered; the answers' ids tell their time, as those of the gateway do. */
async function answered(datasetId: string, evaluatorId: string, costNano: number): Promise<string> {
  const { id } = await api.make<{ id: string }>('/v1/experiment', {
    name: `costs ${costNano}`,
    datasetId,
    target: { kind: 'external' },
    evaluatorIds: [evaluatorId],
  });
  const answers = await insertRequests(
    sql,
    organizationId,
    Array.from({ length: ITEMS }, () => ({
      request_id: newRequestId(),
      created_at: new Date(),
      cost_nano: costNano,
    })),
  );
  await sql`
    update assay.experiment_runs x set state = 'completed', request_id = a.request_id, finished_at = now()
      from unnest(${answers.map((one) => one.request_id)}::text[]) with ordinality as a (request_id, n)
     where x.experiment_id = ${id} and x.item_id = 'item ' || n`;
  return id;
}

t.test('a comparison looks its answers up by their keys, and reads no week as a whole', async (t) => {
  const evaluator = await api.make<{ id: string }>('/v1/evaluator', { name: 'Helpful', ...BOOLEAN });
  const dataset = await api.make<{ id: string }>('/v1/dataset', { name: 'Many' });
  await insertItems(sql, { organizationId, datasetId: dataset.id, items: ITEMS });
  const baseline = await answered(dataset.id, evaluator.id, 500_000_000);
  const candidate = await answered(dataset.id, evaluator.id, 250_000_000);
  await sql`vacuum (analyze)`;
  const { scanned } = await rowsRead(sql, '^requests_w', (inside) =>
    inside.begin((tx) => findMeasured(tx, organizationId, baseline)),
  );
  // Of the week of the answers it may be quicker to read all, which are these answers.
  t.ok(scanned <= 2 * ITEMS, `${scanned} rows`);
  const compared = await api.make<ComparisonJson>('/v1/experiment/compare', {
    baseline,
    candidates: [candidate],
  });
  const cost = compared.candidates[0]!.metrics.find(({ metric }) => metric === 'cost_usd');
  t.match(cost, { pairs: ITEMS, baseline_mean: 0.5, candidate_mean: 0.25 });

  // The items came from requests of ten sessions.
  const sources = await insertRequests(
    sql,
    organizationId,
    Array.from({ length: ITEMS }, (_, n) => ({
      request_id: newRequestId(),
      session_id: `session ${n % 10}`,
    })),
  );
  await sql`
    update assay.dataset_items i set source_request_id = a.request_id
      from unnest(${sources.map((one) => one.request_id)}::text[]) with ordinality as a (request_id, n)
     where i.dataset_id = ${dataset.id} and i.item_id = 'item ' || n`;
  const body = { baseline, candidates: [candidate], cluster: 'session' };
  const bySession = await api.make<ComparisonJson>('/v1/experiment/compare', body);
  t.match(bySession.candidates[0]!.metrics, [{ pairs: 0 }, { metric: 'cost_usd', groups: 10, pairs: ITEMS }]);
});
