/** Reservations of an experiment's budget for judgments that are not settled. */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { JudgmentPrice } from '#platform/evaluations/mod.ts';
import { reservedForJudgments } from '../../../../evaluators/experiments/reserved.ts';
import { startWorld } from '../../../support/evaluation-queue.ts';

const JUDGMENTS = 600;

const world = await startWorld(t);
const { sql } = world;
const evaluator = await world.evaluator(await world.organization(), { scoringType: 'LLM-BOOLEAN' });
const runId = randomUUID();
await world.scheduleMany(evaluator, JUDGMENTS, { state: 'pending' });
await sql`update assay.evaluations set run_id = ${runId}`;

const measured: JudgmentPrice = { isMeasured: true, of: () => ({ likelyNano: 20, mostNano: 30 }) };
const estimated: JudgmentPrice = { ...measured, isMeasured: false };
const unpriced: JudgmentPrice = { isMeasured: false, of: () => null };

const reserved = (price: JudgmentPrice) =>
  sql.begin((tx) => reservedForJudgments(tx, runId, new Map([[evaluator.evaluatorId, price]])));

t.test('each that waits or runs reserves the dearest of its evaluator', async (t) => {
  await sql`update assay.evaluations set state = 'running' where evaluation_id in (
    select evaluation_id from assay.evaluations limit 100)`;
  t.same(await reserved(measured), { nano: JUDGMENTS * 30, count: JUDGMENTS });
});

t.test('those of a judge without a known price reserve nothing, however many they are', async (t) => {
  t.same(await reserved(unpriced), { nano: 0, count: JUDGMENTS });
});

t.test(
  'more than can be looked at one by one, before any has a cost, reserve all that is left',
  async (t) => {
    t.equal((await reserved(estimated)).nano, Number.POSITIVE_INFINITY);
  },
);

t.test('those that wait for the budget of another day reserve nothing until they begin', async (t) => {
  await sql`update assay.evaluations set state = 'pending', error_code = 'budget_exhausted'`;
  t.same(await reserved(measured), { nano: 0, count: 0 });
  await sql`update assay.evaluations set state = 'running'`;
  t.same(await reserved(measured), { nano: JUDGMENTS * 30, count: JUDGMENTS });
  await sql`update assay.evaluations set state = 'completed'`;
  t.same(await reserved(measured), { nano: 0, count: 0 });
});
