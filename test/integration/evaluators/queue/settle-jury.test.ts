/** The judgments of a jury are settled with its evaluation, and the next attempt begins with them. */
import t from 'tap';
import type { MemberJudgment } from '#core/scoring/mod.ts';
import { nextState, settle } from '../../../../evaluators/queue/mod.ts';
import { startWorld } from '../../../support/evaluation-queue.ts';
import { claimOne, completed, takeOver, useOf } from './settle-world.ts';

const member = (model: string, score: number | null): MemberJudgment => ({
  model,
  score,
  label: null,
  reasoning: null,
  flags: [],
  error: score === null ? { code: 'judge_timeout', message: 'Late' } : null,
  use: null,
});
const MEMBERS = [member('one', 4), member('two', null), member('three', null)];

const withoutQuorum = () =>
  nextState(
    {
      outcome: {
        state: 'failed',
        code: 'jury_no_quorum',
        message: '1 of 3 members judged',
        retry: 'later',
        retryAfterMs: null,
        pause: null,
        traces: null,
      },
      use: null,
      members: MEMBERS,
    },
    1,
  );

t.test('a failed attempt keeps what members said for the next, and writes no score', async (t) => {
  const world = await startWorld(t);
  const { job } = await claimOne(world);
  t.equal(job.members, null);
  await settle(world.sql, job, withoutQuorum(), useOf(1_000));
  t.same(await world.scores(), []);
  const next = await takeOver(world, job);
  t.strictSame(next.members, MEMBERS);
  const all = MEMBERS.map(({ model }) => member(model, 4));
  await settle(world.sql, next, { ...completed(4), members: all }, useOf(2_000));
  t.match(await world.row(job.evaluationId), {
    state: 'completed',
    score: 4,
    members: all,
    cost_nano: '3000',
  });
  t.match(await world.scores(), [{ value: 4 }]);
});

t.test('a process that lost its lease leaves the judgments of the other as they are', async (t) => {
  const world = await startWorld(t);
  const { job } = await claimOne(world);
  const other = await takeOver(world, job);
  await settle(world.sql, other, { ...completed(4), members: [member('one', 4)] }, null);
  t.equal(await settle(world.sql, job, { ...completed(1), members: [member('one', 1)] }, null), false);
  t.match(await world.row(job.evaluationId), { score: 4, members: [member('one', 4)] });
});
