/** Pages on a phone, with names as long as the API takes them, and without a space. */
import { comesTo } from '../../../support/browser/comes-to.ts';
import { type Stage, story } from '../../../support/browser/mod.ts';
import { callAs } from './as.ts';
import { makeJudge } from './evaluators/call-api.ts';

const LONG = 'n'.repeat(100);
const PHONE = { width: 390, height: 844 };

type Given = Pick<Stage, 'organization' | 'product'>;

/** Makes a thing of each page; returns the addresses of the pages. */
async function furnish(given: Given): Promise<string[]> {
  const call = <T>(path: string, body: unknown) => callAs<T>(given, 'POST', path, body);
  const [one, other] = await given.organization.insert([
    { scores: { [LONG]: 1 }, user_id: LONG, session_id: 's', session_name: LONG },
    { scores: { [LONG]: 2 } },
  ]);
  await call('/v1/session/s/tag', { tag: LONG });
  const evaluators = await Promise.all(
    ['a', 'b'].map((first) =>
      makeJudge((...wanted) => callAs(given, ...wanted), { name: first + LONG.slice(1) }),
    ),
  );
  const promptBody = { messages: [{ role: 'user', content: 'Hi' }] };
  const prompt = await call<{ id: string }>('/v1/prompt-2025', {
    name: LONG.repeat(2),
    tags: [LONG],
    promptBody,
  });
  return [
    `/requests/${one!.request_id}`,
    `/compare?ids=${one!.request_id},${other!.request_id}`,
    '/sessions/s',
    `/users/${LONG}`,
    `/evaluators/${evaluators[0]!.id}`,
    '/prompts',
    `/prompts/${prompt.id}`,
  ];
}

story('On a phone no page is wider than the screen, whatever the names', async (stage) => {
  const { t, page } = stage;
  const addresses = await furnish(stage);
  await page.setViewportSize(PHONE);
  for (const address of addresses) {
    await page.goto(address);
    await page.getByText('nnnn').first().waitFor({ state: 'attached' });
    await page.waitForLoadState('networkidle');
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), PHONE.width, address);
  }
});

story('On a phone the code of a call passes under the button that copies it', async ({ t, page }) => {
  await page.setViewportSize(PHONE);
  await page.goto('/requests');
  await page.getByRole('button', { name: 'Copy the curl call' }).waitFor();
  const background = () =>
    page.evaluate("getComputedStyle(document.querySelector('.code-block > button')).backgroundColor");
  await comesTo(t, background, 'rgb(255, 255, 255)', 'not the code behind it');
});

story('On a phone the values of a comparison stand beside the longest key of a score', async (stage) => {
  const { t, page } = stage;
  const [, address = ''] = await furnish(stage);
  await page.setViewportSize(PHONE);
  await page.goto(address);
  const title = page.getByRole('rowheader', { name: LONG });
  await title.waitFor();
  t.ok((await title.boundingBox())!.width < PHONE.width * 0.6);
});
