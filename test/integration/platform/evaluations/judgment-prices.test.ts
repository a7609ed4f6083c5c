/** The price of a judgment before its evaluator has judged, and by the latest of its version from then on. */
import t from 'tap';
import { createCatalog } from '#core/models/mod.ts';
import { readJudgmentPrices } from '#platform/evaluations/mod.ts';
import { startWorld } from '../../../support/evaluation-queue.ts';

const SIZE = { promptTokens: 1_000, answerTokens: 200 };
const template = { model: 'gpt-4.1', prompt: 'Is it right?' };

t.test(
  'judgments have a price at first, which grows with what is judged, and then the one that they had',
  async (t) => {
    const world = await startWorld(t);
    const { sql } = world;
    const organizationId = await world.organization();
    const make = (llmTemplate: object) =>
      world.evaluator(organizationId, { scoringType: 'LLM-BOOLEAN', version: 2, llmTemplate });
    const one = await make(template);
    const jury = await make({ ...template, jury: { models: ['gpt-4.1'], rule: 'majority', quorum: 2 } });
    const unpriced = await make({ ...template, model: 'nobody/knows-it' });
    const python = await world.evaluator(organizationId);
    const graders = [one, jury, unpriced, python].map(({ evaluatorId }) => ({ id: evaluatorId, version: 2 }));
    const read = () =>
      sql.begin((tx) =>
        readJudgmentPrices(tx, organizationId, graders, { prices: createCatalog(null), atMs: Date.now() }),
      );
    const first = await read();
    const cost = first.get(one.evaluatorId)!.of(SIZE)!;
    // At 2 dollars a million tokens in and 8 out, with 2,048 tokens of verdict.
    t.ok(cost.mostNano >= 1_200 * 2_000 + 2_048 * 8_000 && cost.mostNano < 2_200 * 2_000 + 2_048 * 8_000);
    t.ok(cost.likelyNano < cost.mostNano);
    t.ok(first.get(one.evaluatorId)!.of({ ...SIZE, promptTokens: 9_000 })!.mostNano > cost.mostNano);
    t.equal(first.get(jury.evaluatorId)!.of(SIZE)!.mostNano, 2 * cost.mostNano);
    t.equal(first.get(unpriced.evaluatorId)!.of(SIZE), null);
    t.notOk(first.has(python.evaluatorId));

    const ids = await world.requests(organizationId, 3);
    const made = await world.schedule(one, ids);
    for (const [index, version] of [2, 2, 1].entries()) {
      await sql`
      update assay.evaluations set state = 'completed', finished_at = now(), version = ${version}, cost_nano = ${(index + 1) * 100}
       where evaluation_id = ${made[index]!}`;
    }
    const then = (await read()).get(one.evaluatorId)!;
    t.strictSame([then.isMeasured, then.of(SIZE)], [true, { likelyNano: 150, mostNano: 200 }]);

    await world.scheduleMany(one, 1_000, { state: 'skipped' });
    await sql`
      update assay.evaluations set finished_at = now() + interval '1 s', error_code = 'run_budget_spent'
       where evaluator_id = ${one.evaluatorId} and state = 'skipped'`;
    const later = (await read()).get(one.evaluatorId)!;
    t.strictSame(later.of(SIZE), then.of(SIZE), 'also behind many that a budget has skipped');
  },
);
