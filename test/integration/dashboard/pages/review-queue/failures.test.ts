/** A review queue when the API refuses, when several people work on it, and for those who may not grade. */
import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { type Stage, story } from '../../../../support/browser/mod.ts';
import { callAs } from '../as.ts';
import { gradeAs, gradesBy, makeCriterion, makeQueue, nameReviewer } from '../grading.ts';

const QUESTIONS = ['Where is Oslo?', 'Where is Lima?', 'Where is Rome?'];

async function makePolite(stage: Stage, questions: readonly string[] = QUESTIONS) {
  const polite = await makeCriterion(stage, 'Polite');
  return { polite, ...(await makeQueue(stage, { name: 'Week', criterionIds: [polite], questions })) };
}

story('A grade that is not saved is said, kept, and saved by another try', async (stage) => {
  const { t, page, expectComplaint } = stage;
  await nameReviewer(stage, 'Ada');
  const { id, requestIds, polite } = await makePolite(stage);
  await page.route('**/grade', (route) =>
    route.fulfill({ status: 503, body: '{"data":null,"error":"Not now"}' }),
  );
  await page.goto(`/review/${id}`);
  await page.getByRole('button', { name: 'Done' }).waitFor();
  await page.getByLabel('Comment on Polite').fill('Kind <b>words</b>');
  await page.keyboard.press('Escape');
  await page.keyboard.press('1');
  await page.keyboard.press('Control+Enter');
  const notice = page.getByRole('alert');
  await notice.getByText('Not now').waitFor();
  await page.getByText('Nothing that you wrote is lost.').waitFor();
  t.equal((await gradesBy(stage, 'Ada', requestIds[0]!)).size, 0);
  // Other pages of the tab come and go.
  await page.getByRole('link', { name: 'Review queues' }).click();
  await page.getByRole('link', { name: 'Week' }).click();
  await page.getByText(QUESTIONS[0]!, { exact: true }).waitFor();
  await comesTo(t, () => page.getByLabel('Comment on Polite').inputValue(), 'Kind <b>words</b>');
  await page.keyboard.press('Control+Enter');
  await notice.getByText('Not now').waitFor();
  await page.unroute('**/grade');
  await notice.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('1 of 3 items done').waitFor();
  await notice.waitFor({ state: 'detached' });
  t.same(
    [...(await gradesBy(stage, 'Ada', requestIds[0]!))],
    [[polite, { value: true, comment: 'Kind <b>words</b>' }]],
  );
  expectComplaint(/status of 503/);
});

story('A grade that is not saved is said on another page, too', async (stage) => {
  const { page, expectComplaint } = stage;
  await nameReviewer(stage, 'Ada');
  const { id } = await makePolite(stage);
  const held = Promise.withResolvers<void>();
  await page.route('**/grade', async (route) => {
    await held.promise;
    await route.fulfill({ status: 503, body: '{"data":null,"error":"Not now"}' });
  });
  await page.goto(`/review/${id}`);
  await page.getByRole('button', { name: 'Done' }).waitFor();
  await page.keyboard.press('1');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('link', { name: 'Review queues' }).click();
  await page.getByRole('link', { name: 'Week' }).waitFor();
  held.resolve();
  await page.getByText('A grade is not saved: Not now').waitFor();
  expectComplaint(/status of 503/);
});

story('Two people who open a queue get different items', async (stage) => {
  const { t, page } = stage;
  const { id } = await makePolite(stage);
  await page.goto(`/review/${id}`);
  const change = async (name: string) => {
    await page.getByRole('button', { name: 'Change' }).click();
    await page.getByRole('dialog').getByLabel('Your name').fill(name);
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  };
  await page.getByText(QUESTIONS[0]!, { exact: true }).waitFor();
  await change('Ada');
  await page.getByText('Grading as Ada').waitFor();
  const taken = await callAs<{ request_id: string } | null>(
    stage,
    'GET',
    `/v1/review-queue/${id}/next?author=Bo`,
  );
  t.not(taken?.request_id, new URL(page.url()).searchParams.get('item'));
});

story('A name is the person of grades, and another name is another person', async (stage) => {
  const { t, page } = stage;
  const { id, requestIds, polite } = await makePolite(stage, [QUESTIONS[0]!]);
  await gradeAs(stage, 'Ada', requestIds[0]!, { criterionId: polite, value: false });
  await nameReviewer(stage, 'Ada');
  await page.goto(`/review/${id}?item=${requestIds[0]}`);
  await page.getByText('1 of 1 item done · 1 graded by you').waitFor();
  await comesTo(t, () => page.locator('.grade-value[aria-pressed=true]').count(), 1);
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByRole('dialog').getByLabel('Your name').fill('Bo');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByText('1 of 1 item done · 0 graded by you').waitFor();
  await comesTo(t, () => page.locator('.grade-value[aria-pressed=true]').count(), 0);
  await comesTo(t, () => page.getByRole('region', { name: 'What others say' }).count(), 0);
});

story(
  'A key that may only read sees how far a queue is, and gets no item',
  async (stage) => {
    const { t, page } = stage;
    const { id } = await makePolite(stage);
    await page.goto(`/review/${id}`);
    await page.getByText('0 of 3 items done').waitFor();
    await comesToMatch(t, () => page.getByRole('note').innerText(), 'needs the scope write');
    await comesTo(t, () => page.getByRole('button', { name: 'Done' }).count(), 0);
  },
  { scopes: ['read'] },
);

story('An archived queue says so', async (stage) => {
  const { page } = stage;
  const { id } = await makePolite(stage);
  await callAs(stage, 'DELETE', `/v1/review-queue/${id}`);
  await page.goto(`/review/${id}`);
  await page.getByText('This queue is archived').waitFor();
});
