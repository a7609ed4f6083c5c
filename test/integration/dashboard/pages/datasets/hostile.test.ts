import type { Page } from 'playwright-core';
import { type Stage, story } from '../../../../support/browser/mod.ts';
import { settles } from '../../../../support/browser/settles.ts';
import { startAttacker } from '../../../../support/hostile/attacker.ts';
import { storableText, thirdOfHostileTexts } from '../../../../support/hostile/mod.ts';
import { callAs } from '../as.ts';
import { answer, makeExperiment, makeScorer } from '../experiments/measured.ts';

/** UTF-16 code units of a name. */
const LONGEST = 90;
const OPEN_ALL = "document.querySelectorAll('details').forEach((one) => { one.open = true; })";

/** Makes a dataset of hostile items, and two experiments over it whose names, errors and answers are hostile, too. */
async function furnish(stage: Stage, texts: readonly string[]) {
  const { product } = stage;
  const { sql } = product.database;
  const { id: datasetId } = await callAs<{ id: string }>(stage, 'POST', '/v1/dataset', {
    name: texts[0],
    description: texts[1],
  });
  const items = texts.map((text) => ({
    externalId: text,
    request: { model: text, messages: [{ role: text, content: text }], [text]: text },
    expected: text,
    metadata: { [text]: text },
    split: text,
    cluster: text,
  }));
  await callAs(stage, 'POST', `/v1/dataset/${datasetId}/items`, { items, message: texts.join(' ') });
  const stored = await sql<{ id: string }[]>`
    select item_id as id from assay.dataset_items where dataset_id = ${datasetId} order by item_id`;
  const itemIds = stored.map(({ id }) => id);
  const scorer = await makeScorer(stage, texts[2]!);
  const make = async (name: string, score: number) => {
    const experiment = await makeExperiment(stage, { name, datasetId, evaluatorIds: [scorer.id] });
    await answer(stage, experiment, {
      itemIds,
      answers: texts.map((text, index) => ({ score, text, isError: index === 0 })),
    });
    const target = { kind: 'model', model: name, parameters: { [name]: name } };
    await sql`
      update assay.experiments set target = ${sql.json(target)}, state = 'paused', paused_reason = ${name},
             git = ${sql.json({ branch: name, sha: name })} where experiment_id = ${experiment.id}`;
    await sql`
      update assay.experiment_runs set error_code = ${name}, error_message = ${name}
       where experiment_id = ${experiment.id} and state = 'error'`;
    return experiment.id;
  };
  return { datasetId, itemIds, baseline: await make(texts[3]!, 1), candidate: await make(texts[4]!, 0) };
}

const rows = (page: Page, name: string) => page.getByRole('table', { name, exact: true }).locator('tbody tr');

story('No text of a dataset or an experiment runs, asks anybody or violates the policy', async (stage) => {
  const { t, page } = stage;
  const attacker = await startAttacker(t);
  const families = [...Map.groupBy(thirdOfHostileTexts(attacker.origin, 1), ({ family }) => family).values()];
  const all = families
    .flatMap((texts) => texts.slice(0, 3))
    .map(({ text }) => storableText(text, LONGEST).trim());
  const texts = [...new Set(all)].filter((text) => text !== '').slice(0, 40);
  t.ok(texts.length >= 20, 'there are enough');
  const { datasetId, itemIds, baseline, candidate } = await furnish(stage, texts);
  const isUnharmed = async (where: string) => {
    await page.evaluate(OPEN_ALL);
    await settles(page);
    t.equal(await page.evaluate('globalThis.__pwned'), undefined, `${where}: nothing ran`);
    t.equal(await page.evaluate('({}).polluted'), undefined, `${where}: no prototype changed`);
  };

  await page.goto('/datasets');
  await rows(page, 'Datasets').first().waitFor();
  await isUnharmed('the datasets');
  for (const itemId of itemIds.slice(0, 5)) {
    await page.goto(`/datasets/${datasetId}?item=${itemId}`);
    await rows(page, 'Items')
      .nth(texts.length - 1)
      .waitFor();
    await page
      .getByRole('complementary', { name: 'Item' })
      .getByRole('heading', { name: 'Metadata' })
      .waitFor();
    await isUnharmed(`item ${itemId}`);
  }
  await page.goto(`/datasets/${datasetId}?tab=versions&from=0&to=1`);
  await page
    .getByRole('region', { name: 'Difference' })
    .getByRole('listitem')
    .nth(texts.length - 1)
    .waitFor();
  await isUnharmed('a difference');
  await page.goto('/experiments');
  await rows(page, 'Experiments').nth(1).waitFor();
  await isUnharmed('the experiments');
  await page.goto(`/experiments/${baseline}`);
  await rows(page, 'Failed runs').first().waitFor();
  await isUnharmed('an experiment');
  await page.goto(`/experiments/new?dataset=${datasetId}`);
  await page.getByRole('checkbox').first().waitFor();
  await isUnharmed('the form');
  await page.goto(`/experiments/compare?baseline=${baseline}&candidates=${candidate}&item=${itemIds[1]}`);
  await page.getByRole('region', { name: 'Answers side by side' }).locator('.compare-columns').waitFor();
  await isUnharmed('a comparison');
  t.same(attacker.asked, [], 'nobody was asked');
});
