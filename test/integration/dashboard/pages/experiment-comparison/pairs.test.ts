import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, type Stage, story } from '../../../../support/browser/mod.ts';
import { callApiOf } from '../evaluators/call-api.ts';
import { answer, makeDataset, makeExperiment } from '../experiments/measured.ts';

const ITEMS = 6;
const HOSTILE = '<b>Better</b>\u202E judge';

async function answered(stage: Stage) {
  const dataset = await makeDataset(stage, { items: ITEMS });
  const make = async (name: string) => {
    const experiment = await makeExperiment(stage, { name, datasetId: dataset.id, evaluatorIds: [] });
    const answers = Array.from({ length: ITEMS }, () => ({ score: 1, text: name, cost: 1_000 }));
    await answer(stage, experiment, { itemIds: dataset.itemIds, answers });
    return experiment.id;
  };
  const [baseline, candidate] = [await make('Large'), await make('Small')];
  await stage.product.database.sql`
    update assay.experiments set state = 'completed', finished_at = now() where dataset_id = ${dataset.id}`;
  return `/experiments/compare?baseline=${baseline}&candidates=${candidate}`;
}

const makeJudge = ({ product, organization }: Stage) =>
  callApiOf(product, organization)('POST', '/v1/evaluator', {
    name: HOSTILE,
    scoring_type: 'LLM-PAIRWISE',
    llm_template: { model: 'gpt-4o-mini', prompt: 'Which answer is better?' },
  });

story('A judge of pairs is priced and asked, and its win rate is shown with its bias', async (stage) => {
  const { t, page, product } = stage;
  const address = await answered(stage);
  await page.goto(address);
  await page.getByText('Judged in pairs').click();
  await page.getByText('There is no judge of pairs yet').waitFor();
  await makeJudge(stage);
  await page.reload();
  await page.getByText('Judged in pairs').click();
  await page.getByRole('button', { name: 'Count and price' }).click();
  await page.getByText(`${2 * ITEMS} judgments of ${ITEMS} pairs`).waitFor();
  await page.getByRole('button', { name: 'Ask the judge' }).click();
  await page.getByText('The judge is asked').waitFor();
  // The evaluators are not there: the judgments are written as they write them.
  const { sql } = product.database;
  await sql`
    update assay.evaluations e set state = 'completed', score = 1, finished_at = now()
      from assay.evaluators v where v.evaluator_id = e.evaluator_id and v.name = ${HOSTILE}`;
  await page.keyboard.press('r');
  const row = page.getByRole('table', { name: 'judges of pairs' }).getByRole('row').nth(1);
  await comesToMatch(t, () => row.textContent(), /<b>Better<\/b>.*Small6600100%/);
  await comesToMatch(t, () => row.textContent(), /50% \(/, 'without a bias for a position');
  await comesTo(t, () => page.locator('main b').count(), 0);
  await page.getByRole('button', { name: 'Count and price' }).click();
  await page.getByText(`0 judgments of ${ITEMS} pairs`).waitFor();
});

accessibleStory('The judgments of pairs have no barrier', async (stage) => {
  const address = await answered(stage);
  await makeJudge(stage);
  await stage.page.goto(address);
  await stage.page.getByText('Judged in pairs').click();
  await stage.page.getByRole('button', { name: 'Count and price' }).waitFor();
});
