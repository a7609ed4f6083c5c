import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, type Stage, story } from '../../../../support/browser/mod.ts';
import { callAs } from '../as.ts';
import { makeJudge } from '../evaluators/call-api.ts';
import { gradeAs, makeCriterion, talk } from '../grading.ts';

/** A criterion by which Ada and Bo graded four requests, and agreed on three. */
async function furnish(stage: Stage) {
  const call = <T>(method: string, path: string, body?: unknown) => callAs<T>(stage, method, path, body);
  const judge = await makeJudge(call, { name: 'Judge of tone' });
  const polite = await makeCriterion(stage, 'Polite', undefined, { evaluatorId: judge.id });
  const rows = await stage.organization.insert(
    ['a', 'b', 'c', 'd'].map((text) => ({ ...talk(text, text), user_id: text })),
  );
  for (const [index, { request_id }] of rows.entries()) {
    const comment = `<b>Said ${index}</b>`;
    await gradeAs(stage, 'Ada', request_id, { criterionId: polite, value: index < 2, comment });
    await gradeAs(stage, 'Bo', request_id, { criterionId: polite, value: index < 1 });
  }
  return { polite, judgeId: judge.id };
}

story('A criterion shows how far people agree, of all requests and of those of a query', async (stage) => {
  const { t, page } = stage;
  const { polite } = await furnish(stage);
  await page.goto(`/review/criteria/${polite}`);
  const people = page.getByRole('region', { name: 'Agreement of people' });
  await comesToMatch(t, () => people.innerText(), /Cohen's kappa\s+0\.5\b/);
  await comesToMatch(t, () => people.innerText(), /Graded by several\s+4/);
  await people.getByLabel('Of the requests').fill('user:a');
  await comesToMatch(t, () => people.innerText(), /Graded by several\s+1/);
  await comesToMatch(t, async () => page.url(), 'q=user:a');
  const evaluator = page.getByRole('region', { name: 'Agreement of the evaluator' });
  await comesToMatch(t, () => evaluator.innerText(), /Requests\s+0/);
  await page.getByText('<b>Said 0</b>').waitFor();
});

story('The statistics of an evaluator say that they are computed of these grades', async (stage) => {
  const { t, page } = stage;
  const { polite, judgeId } = await furnish(stage);
  await page.goto(`/evaluators/${judgeId}?tab=statistics`);
  const section = page.getByRole('region', { name: 'Agreement with people' });
  const link = section.getByRole('link', { name: "people's grades by its criterion" });
  await comesTo(t, () => link.getAttribute('href'), `/review/criteria/${polite}`);
  await comesTo(t, () => section.getByRole('table').getByRole('link').count(), 0, 'no query finds grades');
});

story('A criterion is changed, also with grades, and archived', async (stage) => {
  const { page } = stage;
  const { polite } = await furnish(stage);
  await page.goto(`/review/criteria/${polite}`);
  await page.getByRole('button', { name: 'Change' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Description').fill('Would you talk to a guest like this?');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Would you talk to a guest like this?').waitFor();
  await page.getByRole('button', { name: 'Change' }).click();
  await dialog.getByLabel('A grade is').selectOption({ label: 'A number on a scale' });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('that has grades cannot change').waitFor();
  stage.expectComplaint(/status of 409/);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Archive' }).click();
  await dialog.getByRole('button', { name: 'Archive' }).click();
  await page.getByText('Archived', { exact: true }).first().waitFor();
});

accessibleStory('The page of a criterion has no barrier', async (stage) => {
  const { polite } = await furnish(stage);
  await stage.page.goto(`/review/criteria/${polite}`);
  await stage.page.getByText("Cohen's kappa").waitFor();
  await stage.page.getByText('<b>Said 0</b>').waitFor();
});
