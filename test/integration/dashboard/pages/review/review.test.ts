import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, type Stage, story } from '../../../../support/browser/mod.ts';
import { callAs } from '../as.ts';
import { makeJudge } from '../evaluators/call-api.ts';
import { gradeAs, makeCriterion, makeQueue, nameReviewer } from '../grading.ts';

/** A name of one's own that would be markup, and turns the text around. */
const HOSTILE = 'Kind <img src=x onerror=alert(1)> \u202Eenod';

async function furnish(stage: Stage) {
  const polite = await makeCriterion(stage, 'Polite', undefined, { description: HOSTILE });
  const { id, requestIds } = await makeQueue(stage, {
    name: 'This week',
    criterionIds: [polite],
    questions: ['Where is Oslo?', 'Where is Lima?'],
  });
  await gradeAs(stage, 'Ada', requestIds[0]!, { criterionId: polite, value: true });
  return { id, polite };
}

story('A queue is made of a sample, and leads to its first item', async (stage) => {
  const { t, page } = stage;
  await makeCriterion(stage, 'Polite');
  await stage.organization.insert([{ model: 'gpt-4o' }, { model: 'gpt-4o' }, { model: 'claude-sonnet-4' }]);
  await page.goto('/review');
  await page.getByText('No review queue yet').waitFor();
  await page.getByRole('button', { name: 'New queue' }).click();
  const dialog = page.getByRole('dialog', { name: 'New queue' });
  await dialog.getByLabel('Name').fill('Sample of gpt');
  await dialog.getByRole('checkbox', { name: 'Polite' }).check();
  await dialog.getByLabel('Filter').fill('model_used:nothing-such');
  await dialog.getByLabel('Requests').fill('2');
  const make = dialog.getByRole('button', { name: 'Make the queue' });
  await make.click();
  await dialog.getByText('must find a request, but finds none').waitFor();
  await dialog.getByLabel('Filter').fill('model_used:gpt-4o');
  await make.click();
  await page.getByText('Made, with 2 items').waitFor();
  stage.expectComplaint(/status of 400/);
  const row = page.getByRole('row').filter({ hasText: 'Sample of gpt' });
  await row.getByText('0 of 2').waitFor();
  await comesToMatch(t, () => row.textContent(), /0 of 220Polite2 of model_used:gpt-4o1/);
  await row.getByRole('link', { name: 'Sample of gpt' }).click();
  await page.getByRole('button', { name: 'Done' }).waitFor();
});

story('A queue is made of disagreements with an evaluator', async (stage) => {
  const { page } = stage;
  const call = <T>(method: string, path: string, body?: unknown) => callAs<T>(stage, method, path, body);
  await makeJudge(call, { name: 'Judge of tone' });
  const polite = await makeCriterion(stage, 'Polite');
  const { requestIds } = await makeQueue(stage, {
    name: 'First',
    criterionIds: [polite],
    questions: ['Where is Oslo?'],
  });
  await gradeAs(stage, 'Ada', requestIds[0]!, { criterionId: polite, value: true });
  await gradeAs(stage, 'Bo', requestIds[0]!, { criterionId: polite, value: false });
  await page.goto('/review?do=new');
  const dialog = page.getByRole('dialog', { name: 'New queue' });
  await dialog.getByLabel('Name').fill('Disputed');
  await dialog.getByRole('checkbox', { name: 'Polite' }).check();
  await dialog
    .getByLabel('Filled with')
    .selectOption({ label: 'Requests of which an evaluator and people disagree' });
  await dialog.getByLabel('Evaluator').selectOption({ label: 'Judge of tone' });
  await dialog.getByLabel('People an item').fill('3');
  await dialog.getByRole('button', { name: 'Make the queue' }).click();
  await page.getByText('Made, with 1 item').waitFor();
});

story('Queues show what is done by all and by oneself, and are renamed and archived', async (stage) => {
  const { t, page } = stage;
  await nameReviewer(stage, 'Ada');
  await furnish(stage);
  await page.goto('/review');
  const row = page.getByRole('row').filter({ hasText: 'This week' });
  await row.getByText('1 of 2').waitFor();
  await comesToMatch(t, () => row.textContent(), /1 of 211/, 'done, left, and done by Ada');
  await row.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Last week');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  const renamed = page.getByRole('row').filter({ hasText: 'Last week' });
  await renamed.getByRole('button', { name: 'Archive' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
  await page.getByText('No review queue yet').waitFor();
});

story('A criterion is made of labels, and a fault is shown at its field', async (stage) => {
  const { t, page } = stage;
  await page.goto('/review?tab=criteria');
  await page.getByText('No criterion yet').waitFor();
  await page.getByRole('button', { name: 'New criterion' }).click();
  const dialog = page.getByRole('dialog', { name: 'New criterion' });
  await dialog.getByLabel('Name').fill('Tone');
  await dialog.getByLabel('A grade is').selectOption({ label: 'One of some labels' });
  await dialog.getByLabel('Words of label 1').fill('right');
  await dialog.getByRole('button', { name: 'Make the criterion' }).click();
  await dialog.getByRole('group', { name: 'Labels' }).getByText('is there before, ignoring case').waitFor();
  await dialog.getByLabel('Words of label 1').fill(HOSTILE);
  stage.expectComplaint(/status of 400/);
  await dialog.getByRole('button', { name: 'Add a label' }).click();
  await dialog.getByLabel('Words of label 3').fill('fair');
  await dialog.getByRole('button', { name: 'Make the criterion' }).click();
  const row = page.getByRole('row').filter({ hasText: 'Tone' });
  await row.getByText('<img src=x').waitFor();
  await comesTo(t, () => row.locator('.text-mark').count(), 1, 'the control character is a mark');
});

story('A queue is begun without criteria by making one', async (stage) => {
  const { page } = stage;
  await page.goto('/review?do=new');
  await page.getByRole('link', { name: 'Make one first' }).click();
  await page.getByRole('dialog', { name: 'New criterion' }).waitFor();
});

story(
  'A key that may only read is offered no change',
  async (stage) => {
    const { t, page } = stage;
    await furnish(stage);
    await page.goto('/review');
    await page.getByRole('row').filter({ hasText: 'This week' }).getByText('1 of 2').waitFor();
    for (const name of ['New queue', 'Rename', 'Archive', 'Change'])
      await comesTo(t, () => page.getByRole('button', { name, exact: true }).count(), 0, name);
    await page.getByRole('tab', { name: 'Criteria' }).click();
    await page.getByRole('link', { name: 'Polite' }).waitFor();
    await comesTo(t, () => page.getByRole('button', { name: 'New criterion' }).count(), 0);
  },
  { scopes: ['read'] },
);

accessibleStory('The list of queues has no barrier', async (stage) => {
  await furnish(stage);
  await stage.page.goto('/review');
  await stage.page.getByText('1 of 2').waitFor();
});

accessibleStory('The form of a queue has no barrier', async (stage) => {
  await furnish(stage);
  await stage.page.goto('/review?do=new');
  await stage.page.getByRole('dialog').getByRole('checkbox', { name: 'Polite' }).waitFor();
});

accessibleStory('The list of criteria has no barrier', async (stage) => {
  await furnish(stage);
  await stage.page.goto('/review?tab=criteria&archived=1');
  await stage.page.getByRole('link', { name: 'Polite' }).waitFor();
  await stage.page.getByText('No criterion is archived.').waitFor();
});

accessibleStory('The form of a criterion has no barrier', async (stage) => {
  await stage.page.goto('/review?tab=criteria&do=new');
  const dialog = stage.page.getByRole('dialog');
  await dialog.getByLabel('A grade is').selectOption({ label: 'One of some labels' });
  await dialog.getByLabel('Words of label 1').waitFor();
});
