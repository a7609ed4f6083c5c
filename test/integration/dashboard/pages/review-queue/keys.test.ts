/** A review queue that is worked through by keys alone. */
import type { Page } from 'playwright-core';
import { waitFor } from '../../../../support/assay.ts';
import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, type Stage, story } from '../../../../support/browser/mod.ts';
import { gradeAs, gradesBy, makeCriterion, makeQueue, nameReviewer, SCALE } from '../grading.ts';

const QUESTIONS = ['Where is Oslo?', 'Where is Lima?', 'Where is Rome?'];

const question = (page: Page, text: string) => page.getByText(text, { exact: true });
const pressed = (page: Page) => page.locator('.grade-value[aria-pressed=true]').allTextContents();

/** Waits for what the keys work on: it comes after the question. */
const isReady = (page: Page) => page.getByRole('button', { name: 'Done' }).waitFor();

/** Opens a queue of three requests, by two criteria, as Ada. */
async function open(stage: Stage) {
  await nameReviewer(stage, 'Ada');
  const polite = await makeCriterion(stage, 'Polite');
  const right = await makeCriterion(stage, 'Right', SCALE);
  const queue = await makeQueue(stage, {
    name: 'This week',
    criterionIds: [polite, right],
    questions: QUESTIONS,
  });
  await stage.page.goto(`/review/${queue.id}`);
  await question(stage.page, QUESTIONS[0]!).waitFor();
  await isReady(stage.page);
  return { ...queue, polite, right };
}

/** Opens the queue, and waits until its second item is loaded ahead. */
async function openWithNext(stage: Stage) {
  const { page } = stage;
  const finished = new Set<string>();
  page.on('requestfinished', (request) => finished.add(new URL(request.url()).pathname));
  const opened = await open(stage);
  const path = `/v1/request/${opened.requestIds[1]!}`;
  await waitFor('the next item', () => finished.has(path) && finished.has(`${path}/grades`));
  // The page takes an answer in a moment after it has come.
  await page.evaluate(
    'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
  );
  return opened;
}

story('A queue is worked through by keys, and each item is stored', async (stage) => {
  const { t, page } = stage;
  const { requestIds, polite, right } = await open(stage);
  await page.keyboard.press('1');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('4');
  await comesTo(t, () => pressed(page), ['Yes', '44']);
  await page.keyboard.press('c');
  await page.keyboard.type('Nearly, 1 of 2');
  await page.keyboard.press('Control+Enter');
  await question(page, QUESTIONS[1]!).waitFor();
  await isReady(page);
  await comesTo(t, () => pressed(page), [], 'the next item has no grade');
  await page.getByText('1 of 3 items done · 1 graded by you').waitFor();
  t.same(
    await gradesBy(stage, 'Ada', requestIds[0]!),
    new Map([
      [polite, { value: true, comment: null }],
      [right, { value: 4, comment: 'Nearly, 1 of 2' }],
    ]),
  );
  await isReady(page);
  await page.keyboard.press('2');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('1');
  await page.keyboard.press('Control+Enter');
  await question(page, QUESTIONS[2]!).waitFor();
  await isReady(page);
  await page.keyboard.press('s');
  await page.getByRole('heading', { name: 'Nothing is left for you' }).waitFor();
  await page.getByText('2 of 3 items done · 2 graded by you · 1 skipped by you').waitFor();
  await page.getByRole('button', { name: 'Look at your last item' }).click();
  await question(page, QUESTIONS[2]!).waitFor();
});

story('An item is not done without a grade by each criterion', async (stage) => {
  const { t, page } = stage;
  const { requestIds } = await open(stage);
  await page.keyboard.press('2');
  await page.keyboard.press('Control+Enter');
  await page.getByText('A grade is missing: Right').waitFor();
  await comesToMatch(t, () => page.evaluate('document.activeElement.textContent'), '1', 'there');
  t.equal((await gradesBy(stage, 'Ada', requestIds[0]!)).size, 0);
  await page.keyboard.press('5');
  await page.keyboard.press('Control+Enter');
  await question(page, QUESTIONS[1]!).waitFor();
});

story('Arrows go to the item before with what was written, and to the next one', async (stage) => {
  const { t, page } = stage;
  await openWithNext(stage);
  await page.keyboard.press('1');
  await page.keyboard.press('c');
  await page.keyboard.type('Half a');
  await page.keyboard.press('Escape');
  await page.keyboard.press('ArrowRight');
  await question(page, QUESTIONS[1]!).waitFor();
  await page.keyboard.press('ArrowLeft');
  await question(page, QUESTIONS[0]!).waitFor();
  await comesTo(t, () => pressed(page), ['Yes']);
  await comesTo(t, () => page.getByLabel('Comment on Polite').inputValue(), 'Half a');
});

story('The next item is there at once, also when the API is slow', async (stage) => {
  const { page } = stage;
  const { requestIds } = await openWithNext(stage);
  const held = Promise.withResolvers<void>();
  await page.route('**/v1/**', async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.keyboard.press('1');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('5');
  await page.keyboard.press('Control+Enter');
  await question(page, QUESTIONS[1]!).waitFor();
  await page.keyboard.press('2');
  held.resolve();
  await page.getByText('1 of 3 items done').waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  await comesTo(stage.t, async () => (await gradesBy(stage, 'Ada', requestIds[0]!)).size, 2);
  await comesTo(stage.t, () => pressed(page), ['2No'], 'what was chosen meanwhile stays');
});

story('An item is claimed anew when it is shown, for the whole time that it is read', async (stage) => {
  const { t, page, product } = stage;
  const { id, requestIds } = await openWithNext(stage);
  const claimedUntil = async () => {
    const [row] = await product.database.sql<{ until: Date[] }[]>`
      select claimed_until as until from assay.review_items
      where queue_id = ${id} and request_id = ${requestIds[1]!}`;
    return row!.until.map(Number)[0]!;
  };
  const ahead = await claimedUntil();
  for (const key of ['1', 'ArrowDown', '3', 'Control+Enter']) await page.keyboard.press(key);
  await comesTo(t, async () => (await claimedUntil()) > ahead, true);
});

story("What others say is hidden until one's own grade is stored", async (stage) => {
  const { t, page } = stage;
  const { requestIds, polite } = await open(stage);
  await gradeAs(stage, 'Bo', requestIds[0]!, { criterionId: polite, value: false, comment: 'Rude indeed' });
  await page.reload();
  await question(page, QUESTIONS[0]!).waitFor();
  await isReady(page);
  await page.waitForLoadState('networkidle');
  const shown = await page.locator('body').innerText();
  t.notMatch(shown, 'Rude indeed');
  t.notMatch(shown, 'Bo');
  for (const key of ['1', 'ArrowDown', '3', 'Control+Enter']) await page.keyboard.press(key);
  await question(page, QUESTIONS[1]!).waitFor();
  await page.getByText('1 of 3 items done').waitFor();
  await page.keyboard.press('ArrowLeft');
  await page.getByText('Rude indeed').waitFor();
  await page.getByText('No evaluator has judged this answer.').waitFor();
});

story('The sheet of keys lists those of the review', async (stage) => {
  const { page } = stage;
  await open(stage);
  await page.keyboard.press('?');
  const sheet = page.getByRole('dialog', { name: 'Keys' });
  for (const what of ['Choose a value', 'Criterion before', 'Done, and the next item', 'Skip the item'])
    await sheet.getByText(what).waitFor();
});

accessibleStory('An item that is to be graded has no barrier', async (stage) => {
  await open(stage);
});

accessibleStory('An item with what others say has no barrier', async (stage) => {
  const { page } = stage;
  const { requestIds, polite } = await open(stage);
  await gradeAs(stage, 'Bo', requestIds[0]!, { criterionId: polite, value: false, comment: 'Rude indeed' });
  for (const key of ['1', 'ArrowDown', '3', 'Control+Enter']) await page.keyboard.press(key);
  await page.getByText('1 of 3 items done').waitFor();
  await page.keyboard.press('ArrowLeft');
  await page.getByText('Rude indeed').waitFor();
});
