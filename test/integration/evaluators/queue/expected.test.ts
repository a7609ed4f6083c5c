/** The expected answer that a job carries: that of its record, or in an experiment that of the item. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { startWorld, type World } from '../../../support/evaluation-queue.ts';

/** Puts an item that was changed in version 2, and an experiment on version 1 with a run of it. */
async function experimentOf(
  { sql }: World,
  organizationId: string,
  run: { call_id?: string; request_id?: string },
): Promise<string> {
  const [datasetId, experimentId] = [randomUUID(), randomUUID()];
  const at = new Date();
  await sql`
    insert into assay.datasets (dataset_id, organization_id, name, last_version, created_at, updated_at)
    values (${datasetId}, ${organizationId}, ${datasetId}, 2, ${at}, ${at})`;
  for (const [from, to, expected] of [
    [1, 2, '"of the item"'],
    [2, null, '"of a later version"'],
  ] as const)
    await sql`
      insert into assay.dataset_items
        (dataset_id, item_id, from_version, to_version, organization_id, request, expected, content_sha256)
      values (${datasetId}, 'item', ${from}, ${to}, ${organizationId}, '{}', ${expected}, '')`;
  await sql`
    insert into assay.experiments
      (experiment_id, organization_id, name, dataset_id, dataset_version, target, evaluators, repetitions, seed, concurrency,
       cache, state, created_at, updated_at)
    values (${experimentId}, ${organizationId}, 'x', ${datasetId}, 1, '{}', '[]', 1, 0, 1, 'off', 'running', ${at}, ${at})`;
  await sql`
    insert into assay.experiment_runs ${sql({ experiment_id: experimentId, item_id: 'item', repetition: 1, organization_id: organizationId, position: 1, due_at: at, ...run })}`;
  return experimentId;
}

t.test('a job has the expected answer of its record, and none where none was logged', async (t) => {
  const world = await startWorld(t);
  const evaluator = await world.evaluator(await world.organization());
  const requests = await world.requests(evaluator.organizationId, 2);
  await world.sql`update assay.requests set expected = '{"a":1.10}' where request_id = ${requests[0]!}`;
  await world.schedule(evaluator, requests);
  const jobs = await world.claimAll();
  const expected = requests.map((id) => jobs.find(({ requestId }) => requestId === id)!.request!.expected);
  t.same(expected, ['{"a":1.10}', null]);
});

t.test('in an experiment it is that of the item, in the version of the experiment', async (t) => {
  const world = await startWorld(t);
  const evaluator = await world.evaluator(await world.organization());
  const { organizationId } = evaluator;
  const [called, answered, foreign] = await world.requests(organizationId, 3);
  await world.sql`update assay.requests set expected = '"logged"'`;
  const underWay = await experimentOf(world, organizationId, { call_id: called! });
  const settled = await experimentOf(world, organizationId, { call_id: 'another', request_id: answered! });
  await world.schedule(evaluator, [called!], { runId: underWay });
  await world.schedule(evaluator, [answered!], { runId: settled });
  await world.schedule(evaluator, [foreign!], { runId: settled });
  const jobs = await world.claimAll();
  const expectedOf = (id: string) => jobs.find(({ requestId }) => requestId === id)!.request!.expected;
  t.equal(expectedOf(called!), '"of the item"', 'also before its run is settled');
  t.equal(expectedOf(answered!), '"of the item"');
  t.equal(expectedOf(foreign!), '"logged"', 'a request that is no answer of the experiment has its own');
});
