/** Which evaluations a claim takes, when, and the request that each job carries. */
import fc from 'fast-check';
import t from 'tap';
import {
  claim,
  type Job,
  LEASE_MS,
  MAX_BODY_BYTES,
  releaseLeases,
  renewLeases,
} from '../../../../evaluators/queue/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { type Evaluator, startWorld } from '../../../support/evaluation-queue.ts';
import { ALL, elapse, ids } from './claims.ts';

t.test('evaluations of incoming requests are claimed before probes, and probes before runs', async (t) => {
  const world = await startWorld(t);
  const evaluator = await world.evaluator(await world.organization());
  const requests = await world.requests(evaluator.organizationId, 9);
  const history = await world.schedule(evaluator, requests.slice(0, 3), { priority: 2, dueInMs: -9_000 });
  const probes = await world.schedule(evaluator, requests.slice(3, 6), { priority: 1, dueInMs: -6_000 });
  const [newest, older, oldest] = await world.schedule(evaluator, requests.slice(6), { dueInMs: -3_000 });
  await elapse(world, [older!], 500);
  await elapse(world, [oldest!], 1_000);
  const claimed = async (limit: number) => ids((await claim(world.sql, { ...ALL, limit })).jobs);
  t.same(await claimed(1), [oldest], 'of equal priority, the one that has waited longest comes first');
  t.same(await claimed(2), [newest, older].sort());
  t.same(await claimed(3), [...probes].sort());
  t.same(await claimed(9), [...history].sort());
});

t.test('a retry is not claimed before it is due', async (t) => {
  const world = await startWorld(t);
  const evaluator = await world.evaluator(await world.organization());
  const [id] = await world.schedule(evaluator, await world.requests(evaluator.organizationId, 1), {
    dueInMs: 400,
    attempts: 1,
  });
  const claimedAt = async () => {
    const [job] = await world.claimAll();
    if (job === undefined) return null;
    const [row] = await world.sql<{ early: boolean }[]>`
      select now() < scheduled_at + interval '400 ms' as early
        from assay.evaluations where evaluation_id = ${job.evaluationId}`;
    return { id: job.evaluationId, attempt: job.attempt, early: row!.early };
  };
  let found: Awaited<ReturnType<typeof claimedAt>> = null;
  await waitFor('the retry to be due', async () => {
    found = await claimedAt();
    return found !== null;
  });
  t.same(found, { id, attempt: 2, early: false });
});

t.test('an evaluation that is not settled becomes due when its lease expires, and not earlier', async (t) => {
  const world = await startWorld(t);
  const evaluator = await world.evaluator(await world.organization());
  const scheduled = await world.schedule(evaluator, await world.requests(evaluator.organizationId, 2));
  const [lost, kept] = (await world.claimAll()).sort(
    (a, b) => Number(a.evaluationId) - Number(b.evaluationId),
  );
  t.same([lost!.attempt, kept!.attempt], [1, 1]);
  await elapse(world, scheduled, LEASE_MS - 1_000);
  t.same(await world.claimAll(), []);
  await renewLeases(world.sql, [kept!]);
  await elapse(world, scheduled, 1_001);
  const [again, ...others] = await world.claimAll();
  t.match(again, { evaluationId: lost!.evaluationId, attempt: 2 });
  t.same(others, [], 'a renewed lease is not lost');

  const due = async () => (await world.row(lost!.evaluationId)).due_at.getTime();
  const before = await due();
  await elapse(world, [lost!.evaluationId], 10_000);
  await renewLeases(world.sql, [lost!]);
  t.equal(await due(), before - 10_000, 'a lost lease cannot be renewed');
  await releaseLeases(world.sql, [lost!]);
  t.same(await world.claimAll(), [], 'a lost lease cannot be released');
  await releaseLeases(world.sql, [again!]);
  t.match(
    await world.claimSoon(),
    [{ evaluationId: lost!.evaluationId, claim: 3, attempt: 2 }],
    'the holder of the lease can release it',
  );
});

t.test('paused and finished evaluations are not claimed', async (t) => {
  const world = await startWorld(t);
  const evaluator = await world.evaluator(await world.organization());
  const states = ['paused', 'completed', 'skipped', 'error', 'dead', 'cancelled'];
  for (const state of states) await world.scheduleMany(evaluator, 1, { state, dueInMs: -1_000 });
  t.same(await world.claimAll(), []);
});

t.test('the lanes python and remote are separate queues', async (t) => {
  const world = await startWorld(t);
  const organizationId = await world.organization();
  const [request] = await world.requests(organizationId, 1);
  const python = await world.evaluator(organizationId);
  const judge = await world.evaluator(organizationId, { scoringType: 'LLM-BOOLEAN' });
  const [local] = await world.schedule(python, [request!]);
  const [remote] = await world.schedule(judge, [request!]);
  t.same(ids(await world.claimAll('remote')), [remote]);
  t.same(ids(await world.claimAll('python')), [local]);
});

t.test('concurrent claims never return the same evaluation', async (t) => {
  const world = await startWorld(t);
  const evaluators: Evaluator[] = [];
  for (let index = 0; index < 5; index += 1)
    evaluators.push(await world.evaluator(await world.organization()));
  const processes = Array.from({ length: 6 }, () => world.connect(1));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(60), { minLength: 5, maxLength: 5 }),
      fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 6, maxLength: 6 }),
      async (counts, limits) => {
        await world.sql`delete from assay.evaluations`;
        await Promise.all(evaluators.map((one, index) => world.scheduleMany(one, counts[index]!)));
        const total = counts.reduce((sum, count) => sum + count, 0);
        const claimed: Job[] = [];
        await Promise.all(
          processes.map(async (sql, index) => {
            // A claim that found only rows locked by others returns nothing.
            while (claimed.length < total) {
              claimed.push(...(await claim(sql, { ...ALL, limit: limits[index]! })).jobs);
            }
          }),
        );
        return (
          claimed.length === total &&
          new Set(ids(claimed)).size === total &&
          claimed.every((one) => one.attempt === 1)
        );
      },
    ),
    { numRuns: 25 },
  );
});

t.test(
  'a job carries the request of its own organization, not one of another with the same id',
  async (t) => {
    const world = await startWorld(t);
    const [own, other] = [await world.organization(), await world.organization()];
    const [request] = await world.requests(other, 1);
    const copy = (text: string) => text.replaceAll('output', 'own output');
    await world.sql.unsafe(`
    insert into assay.requests (organization_id, created_at, request_id, source, path, provider, model, status,
      properties_folded, is_stream, truncated, error_code, inputs)
    select '${own}', created_at, request_id, source, path, provider, 'own-model', 503, '{"plan":"pro"}', is_stream, true,
      'provider_stalled', '{"city":"Oslo"}' from assay.requests`);
    await world.sql.unsafe(`
    insert into assay.request_bodies (organization_id, created_at, request_id, request_text, response_text)
    select '${own}', created_at, request_id, request_text, replace(response_text, 'output', 'own output')
      from assay.request_bodies`);
    const evaluator = await world.evaluator(own, { name: 'Mine', version: 3 });
    await world.schedule({ ...evaluator, version: 2 }, [request!]);
    const [job, ...others] = await world.claimAll();
    t.same(others, []);
    const [stored] = await world.sql<{ response_text: string }[]>`
    select response_text from assay.request_bodies where organization_id = ${other}`;
    t.match(job, {
      organizationId: own,
      requestId: request,
      probe: null,
      evaluator: {
        id: evaluator.evaluatorId,
        name: 'Mine',
        version: 2,
        isDeleted: false,
        isPaused: false,
        isOverBudget: false,
      },
      request: {
        source: 'gateway',
        status: 503,
        truncated: true,
        errorCode: 'provider_stalled',
        model: 'own-model',
        inputs: '{"city": "Oslo"}',
        properties: { plan: 'pro' },
        responseText: copy(stored!.response_text),
      },
    });
  },
);

t.test('a job leaves out bodies that are too large, and its request is null once deleted', async (t) => {
  const world = await startWorld(t);
  const evaluator = await world.evaluator(await world.organization());
  const [large, limit, gone] = await world.requests(evaluator.organizationId, 3);
  await world.schedule(evaluator, [large!, limit!, gone!]);
  const grow = (id: string, bytes: number) => world.sql`
    update assay.request_bodies set response_text = '"' || repeat('x', ${bytes - 2}) || '"' where request_id = ${id}`;
  await grow(large!, MAX_BODY_BYTES + 1);
  await grow(limit!, MAX_BODY_BYTES);
  await world.sql`delete from assay.requests where request_id = ${gone!}`;
  const jobs = new Map((await world.claimAll()).map((job) => [job.requestId, job.request]));
  t.equal(jobs.get(large!)!.responseText, null);
  t.equal(jobs.get(limit!)!.responseText?.length, MAX_BODY_BYTES);
  t.equal(jobs.get(gone!), null);
});
