/** What judges cost, told twice: by the evaluators process that asked, and by the record of the call. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import { createLogger } from '#platform/observability/log.ts';
import { systemClock } from '#platform/process/clock.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { nextState, settle } from '../../../evaluators/queue/mod.ts';
import { deadLetterOf, insertDeadLetter } from '../../../ingest/dead-letters.ts';
import { retryAllDeadLetters } from '../../../ingest/retry-dead-letter.ts';
import { BatchStore } from '../../../ingest/store-batch.ts';
import { waitFor } from '../../support/assay.ts';
import { startWorld } from '../../support/evaluation-queue.ts';
import { logEntry } from '../../support/log-entries.ts';

const NANO_PER_PROMPT_TOKEN = 2_500; // gpt-4o
const RUNS = 40;

/** One attempt of an evaluation: its calls by their prompt tokens, and who tells of them how often. */
const attempts = fc.array(
  fc.record({
    calls: fc.array(fc.record({ promptTokens: fc.integer({ min: 1, max: 9_999 }), isCached: fc.boolean() }), {
      minLength: 1,
      maxLength: 3,
    }),
    /** As the process computes it, which need not be what the records say. */
    reportedNano: fc.nat(99_999_999),
    reports: fc.integer({ min: 0, max: 2 }),
    deliveries: fc.integer({ min: 0, max: 2 }),
  }),
  { minLength: 1, maxLength: 4 },
);

const completed = nextState(
  {
    outcome: { state: 'completed', score: 1, label: null, reasoning: null, traces: null, flags: [] },
    use: null,
  },
  1,
);

t.test(
  'a judge call is charged once: by its record, or as reported while it has none, in any order',
  async (t) => {
    const world = await startWorld(t);
    const { sql } = world;
    const organizationId = await world.organization();
    const log = createLogger({ role: 'test', level: 'silent' });
    const pool = world.connect(6);
    const store = () => new BatchStore({ sql: pool, log, clock: systemClock, retentionDays: null });
    await fc.assert(
      fc.asyncProperty(
        attempts,
        fc.infiniteStream(fc.nat(99)),
        fc.boolean(),
        async (given, order, atOnce) => {
          const evaluator = await world.evaluator(organizationId, { scoringType: 'LLM-BOOLEAN' });
          const [evaluationId] = await world.schedule(evaluator, await world.requests(organizationId, 1));
          const [job] = await world.claimSoon('remote');
          const events: (() => Promise<unknown>)[] = [];
          let wanted = 0;
          for (const { calls, reportedNano, reports, deliveries } of given) {
            const made = calls.map((call) => ({ ...call, id: newRequestId() }));
            const entries = made.map(({ id, promptTokens, isCached }) => ({
              ...logEntry(
                {
                  id,
                  organizationId,
                  source: 'evaluator',
                  requestModel: 'gpt-4o',
                  properties: [['Assay-Evaluation-Id', evaluationId!]],
                  ...(isCached ? { cachedFrom: 'another' } : {}),
                },
                {
                  response: {
                    model: 'gpt-4o',
                    usage: { prompt_tokens: promptTokens, completion_tokens: 0, total_tokens: promptTokens },
                  },
                },
              ),
              origin: 'test',
            }));
            const use = {
              calls: made.length,
              requestIds: made.map(({ id }) => id),
              model: 'gpt-4o',
              promptTokens: 1,
              completionTokens: 1,
              costNano: reportedNano,
              latencyMs: 1,
            };
            for (let time = 0; time < reports; time += 1)
              events.push(() => settle(pool, job!, completed, use));
            for (let time = 0; time < deliveries; time += 1) events.push(() => store().store({ entries }));
            const recorded = made.reduce((sum, one) => sum + (one.isCached ? 0 : one.promptTokens), 0);
            if (deliveries > 0) wanted += recorded * NANO_PER_PROMPT_TOKEN;
            else if (reports > 0) wanted += reportedNano;
          }
          const shuffled = events
            .map((run) => ({ run, place: order.next().value as number }))
            .sort((one, other) => one.place - other.place);
          if (atOnce) await Promise.all(shuffled.map(({ run }) => run()));
          else for (const { run } of shuffled) await run();
          const spent = (await world.spent())[evaluator.evaluatorId] ?? 0;
          if (spent !== wanted) throw new Error(`${spent} is counted, not ${wanted}`);
        },
      ),
      { numRuns: RUNS },
    );
    const [row] = await sql`select count(*)::int4 as count from assay.dead_letters`;
    t.equal(row!.count, 0);
  },
);

t.test(
  'a call without an evaluation, or with one of another organization, is charged to no budget',
  async (t) => {
    const world = await startWorld(t);
    const [own, other] = [await world.organization(), await world.organization()];
    const evaluator = await world.evaluator(own, { scoringType: 'LLM-BOOLEAN' });
    const [evaluationId] = await world.schedule(evaluator, await world.requests(own, 1));
    const log = createLogger({ role: 'test', level: 'silent' });
    const store = new BatchStore({ sql: world.sql, log, clock: systemClock, retentionDays: null });
    const entry = (organizationId: string, source: 'evaluator' | 'gateway', id: string) => ({
      ...logEntry(
        { organizationId, source, requestModel: 'gpt-4o', properties: [['Assay-Evaluation-Id', id]] },
        {
          response: {
            model: 'gpt-4o',
            usage: { prompt_tokens: 1_000, completion_tokens: 0, total_tokens: 1_000 },
          },
        },
      ),
      origin: 'test',
    });
    const entries = [
      entry(other, 'evaluator', evaluationId!),
      entry(own, 'gateway', evaluationId!),
      entry(own, 'evaluator', 'trial-1'),
      entry(own, 'evaluator', '999999999999999999'),
    ];
    t.equal((await store.store({ entries })).stored, entries.length);
    t.same(await world.spent(), {});
    await store.store({ entries: [entry(own, 'evaluator', evaluationId!)] });
    t.same(await world.spent(), { [evaluator.evaluatorId]: 1_000 * NANO_PER_PROMPT_TOKEN });
  },
);

const MIGRATION = new URL('../../../platform/postgres/migrations/0013_judge_calls.sql', import.meta.url);
const NANO_OF_A_CALL = 1_000 * NANO_PER_PROMPT_TOKEN;

/** The record of a judge's call of 1,000 prompt tokens, made now. */
const recordOf = (organizationId: string, evaluationId: string, id: string) => ({
  ...logEntry(
    {
      id,
      organizationId,
      source: 'evaluator',
      createdAtMs: Date.now(),
      requestModel: 'gpt-4o',
      properties: [['Assay-Evaluation-Id', evaluationId]],
    },
    {
      response: {
        model: 'gpt-4o',
        usage: { prompt_tokens: 1_000, completion_tokens: 0, total_tokens: 1_000 },
      },
    },
  ),
  origin: 'test',
});

t.test(
  'two batches that replace and add calls of the same evaluators do not wait for each other',
  async (t) => {
    const world = await startWorld(t);
    const { sql } = world;
    const organizationId = await world.organization();
    const log = createLogger({ role: 'test', level: 'silent' });
    const evaluators = [];
    for (let made = 0; made < 2; made += 1) {
      const evaluator = await world.evaluator(organizationId, { scoringType: 'LLM-BOOLEAN' });
      const [evaluationId] = await world.schedule(evaluator, await world.requests(organizationId, 1));
      const [job] = await world.claimSoon('remote');
      const reportedId = newRequestId();
      await settle(sql, job!, completed, {
        calls: 1,
        requestIds: [reportedId],
        model: 'gpt-4o',
        promptTokens: 1,
        completionTokens: 1,
        costNano: 1,
        latencyMs: 1,
      });
      evaluators.push({ ...evaluator, evaluationId: evaluationId!, reportedId });
    }
    const [one, other] = evaluators;
    const store = (replaced: typeof one, added: typeof one) =>
      new BatchStore({ sql: world.connect(1), log, clock: systemClock, retentionDays: null }).store({
        entries: [
          recordOf(organizationId, replaced!.evaluationId, replaced!.reportedId),
          recordOf(organizationId, added!.evaluationId, newRequestId()),
        ],
      });
    const bothWait = () =>
      waitFor('both to wait', async () => {
        const [row] = await sql`
        select count(*)::int4 as waiting from pg_locks join pg_stat_activity using (pid)
         where datname = current_database() and not granted`;
        return row!.waiting === 2;
      });
    let stored: Promise<unknown>[] = [];
    await world.connect(1).begin(async (ofOther) => {
      await ofOther`select from assay.evaluation_spend where evaluator_id = ${other!.evaluatorId} for update`;
      await world.connect(1).begin(async (ofOne) => {
        await ofOne`select from assay.evaluation_spend where evaluator_id = ${one!.evaluatorId} for update`;
        stored = [store(one, other), store(other, one)];
        // What a batch throws is looked at below.
        for (const batch of stored) batch.catch(() => {});
        await bothWait();
      });
      // The first batch has the row that it waited for, and waits for the other one.
      await bothWait();
    });
    await t.resolves(Promise.all(stored));
    t.same(
      await world.spent(),
      Object.fromEntries(evaluators.map(({ evaluatorId }) => [evaluatorId, 2 * NANO_OF_A_CALL])),
    );
  },
);

t.test(
  "a judge's record that is twice in one batch is charged once, and the batch is stored whole",
  async (t) => {
    const world = await startWorld(t);
    const organizationId = await world.organization();
    const evaluator = await world.evaluator(organizationId, { scoringType: 'LLM-BOOLEAN' });
    const [evaluationId] = await world.schedule(evaluator, await world.requests(organizationId, 1));
    const log = createLogger({ role: 'test', level: 'silent' });
    const store = new BatchStore({ sql: world.sql, log, clock: systemClock, retentionDays: null });
    const record = recordOf(organizationId, evaluationId!, newRequestId());
    const parts: string[] = [];
    const alongside = async (_tx: unknown, first: number, end: number) => {
      parts.push(`${first} to ${end}`);
    };
    await store.store({ entries: [record, record], alongside });
    // The first attempt takes both for new.
    t.same(parts, ['0 to 2', '0 to 2']);
    t.same(await world.spent(), { [evaluator.evaluatorId]: NANO_OF_A_CALL });
  },
);

t.test('a judge call reported before the migration to single calls is not charged again', async (t) => {
  const world = await startWorld(t);
  const { sql } = world;
  const organizationId = await world.organization();
  const evaluator = await world.evaluator(organizationId, { scoringType: 'LLM-BOOLEAN' });
  const [evaluationId] = await world.schedule(evaluator, await world.requests(organizationId, 1));
  const [reportedId, laterId] = [newRequestId(), newRequestId()];
  await sql`
    update assay.evaluations set judge_calls = 1, judge_request_ids = ${[reportedId]}, state = 'completed', finished_at = now()
     where evaluation_id = ${evaluationId!}`;
  await sql`
    insert into assay.evaluation_spend (organization_id, evaluator_id, day, cost_nano)
    values (${organizationId}, ${evaluator.evaluatorId}, (now() at time zone 'UTC')::date, ${NANO_OF_A_CALL})`;
  await sql`drop table assay.judge_calls`;
  await sql`drop function assay.add_judge_calls, assay.change_judge_calls`;
  await sql.unsafe(readFileSync(MIGRATION, 'utf8'));
  const log = createLogger({ role: 'test', level: 'silent' });
  const store = new BatchStore({ sql, log, clock: systemClock, retentionDays: null });
  const entries = [reportedId, laterId].map((id) => recordOf(organizationId, evaluationId!, id));
  await store.store({ entries });
  t.same(await world.spent(), { [evaluator.evaluatorId]: 2 * NANO_OF_A_CALL });
});

t.test('a judge call that was a dead letter is charged when it is stored', async (t) => {
  const world = await startWorld(t);
  const { sql } = world;
  const organizationId = await world.organization();
  const evaluator = await world.evaluator(organizationId, { scoringType: 'LLM-BOOLEAN' });
  const [evaluationId] = await world.schedule(evaluator, await world.requests(organizationId, 1));
  const entry = logEntry(
    {
      organizationId,
      source: 'evaluator',
      requestModel: 'gpt-4o',
      properties: [['Assay-Evaluation-Id', evaluationId!]],
    },
    { response: { model: 'gpt-4o', usage: { prompt_tokens: 8, completion_tokens: 0, total_tokens: 8 } } },
  );
  await sql.begin((tx) => insertDeadLetter(tx, deadLetterOf({ ...entry, origin: 'test' }, 'why')));
  t.same(await retryAllDeadLetters(sql), { stored: 1, refused: 0 });
  t.equal((await world.spent())[evaluator.evaluatorId], 8 * NANO_PER_PROMPT_TOKEN);
});
