/** Which score a record shows when several could be its own. */
import t from 'tap';
import { settle } from '../../../../evaluators/queue/mod.ts';
import { startWorld } from '../../../support/evaluation-queue.ts';
import { claimOne, completed } from './settle-world.ts';

t.test("an evaluator's score replaces a person's, and a person's replaces the evaluator's", async (t) => {
  const world = await startWorld(t);
  const { evaluator, requestId, job } = await claimOne(world);
  const byPerson = (value: number) => world.sql`
    insert into assay.request_scores (organization_id, created_at, request_id, key, value, updated_at)
    select organization_id, created_at, request_id, ${evaluator.scoreKey}, ${value}, now()
      from assay.requests where request_id = ${requestId}
    on conflict (organization_id, created_at, request_id, key)
      do update set value = excluded.value, evaluator_id = null, evaluator_version = null`;
  await byPerson(3);
  await settle(world.sql, job, completed(5), null);
  t.match(await world.scores(), [{ value: 5, evaluator_id: evaluator.evaluatorId, evaluator_version: 1 }]);
  await byPerson(4);
  t.equal(await settle(world.sql, job, completed(5), null), false);
  t.match(await world.scores(), [{ value: 4, evaluator_id: null }]);
});

t.test(
  'the score of the latest version of an evaluator wins, in whatever order versions settle',
  async (t) => {
    const world = await startWorld(t);
    const organizationId = await world.organization();
    const evaluator = await world.evaluator(organizationId, { scoringType: 'LLM-BOOLEAN', version: 3 });
    const [requestId] = await world.requests(organizationId, 1);
    for (const version of [1, 2, 3]) await world.schedule({ ...evaluator, version }, [requestId!]);
    const jobs = new Map((await world.claimAll('remote')).map((job) => [job.evaluator.version, job]));
    for (const version of [2, 1, 3]) await settle(world.sql, jobs.get(version)!, completed(version), null);
    t.match(await world.scores(), [{ value: 3, evaluator_version: 3 }]);
    const [requestOfOld] = await world.requests(organizationId, 1);
    for (const version of [3, 1]) await world.schedule({ ...evaluator, version }, [requestOfOld!]);
    const more = (await world.claimAll('remote')).sort((a, b) => b.evaluator.version - a.evaluator.version);
    for (const job of more) await settle(world.sql, job, completed(job.evaluator.version), null);
    t.match(await world.scores(), [{ value: 3 }, { value: 3 }]);
  },
);

t.test('an evaluator with the name of a deleted one overwrites its scores', async (t) => {
  const world = await startWorld(t);
  const organizationId = await world.organization();
  const given = { name: 'Polite', scoringType: 'LLM-BOOLEAN' } as const;
  const old = await world.evaluator(organizationId, { ...given, version: 7 });
  const [requestId] = await world.requests(organizationId, 1);
  await world.schedule(old, [requestId!]);
  await settle(world.sql, (await world.claimAll('remote'))[0]!, completed(0), null);
  await world.sql`update assay.evaluators set deleted_at = now()`;
  const young = await world.evaluator(organizationId, given);
  await world.schedule(young, [requestId!]);
  await settle(world.sql, (await world.claimAll('remote'))[0]!, completed(1), null);
  t.match(await world.scores(), [
    { key: 'polite', value: 1, evaluator_id: young.evaluatorId, evaluator_version: 1 },
  ]);
});
