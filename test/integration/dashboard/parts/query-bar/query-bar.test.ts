import type { Page } from 'playwright-core';
import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';

type Stage = Parameters<Parameters<typeof story>[1]>[0];
const bar = (page: Page) => page.getByRole('textbox', { name: 'Query' });
const queryOf = (page: Page) => new URL(page.url()).searchParams.get('q');
/** Waits until the address has the query. */
const asked = (page: Page, q: string | null) => page.waitForURL((url) => url.searchParams.get('q') === q);
const HAS_FOCUS = `document.activeElement === document.querySelector('textarea')`;
const SELECTED = 'getSelection().toString()';
type Size = { scrollWidth: number; scrollHeight: number; clientHeight: number };
const SIZES = `['textarea.query-bar-field', '.query-bar-overlay'].map((name) => {
  const { scrollWidth, scrollHeight, clientHeight } = document.querySelector(name);
  return { scrollWidth, scrollHeight, clientHeight };
})`;
const options = (page: Page) => page.getByRole('option');

async function open({ page, organization }: Pick<Stage, 'page' | 'organization'>, q = ''): Promise<void> {
  await organization.insert([
    { user_id: 'anna smith', status: 500 },
    { user_id: 'anna smith' },
    { user_id: 'bob', properties: { 'User tier': 'pro' } },
  ]);
  await page.goto(`/requests?q=${encodeURIComponent(q)}`);
  await bar(page).waitFor();
}

story(
  'A query that is typed is asked with Enter, and is in the address',
  async ({ t, page, organization }) => {
    await open({ page, organization });
    await page.keyboard.press('/');
    await page.keyboard.type('status:500');
    t.equal(queryOf(page), '', 'not before');
    await page.keyboard.press('Enter');
    await asked(page, 'status:500');
    await page.getByText('1 request', { exact: true }).waitFor();
    await page.goBack();
    await page.getByRole('list', { name: 'Conditions' }).waitFor({ state: 'detached' });
    await comesTo(t, () => bar(page).inputValue(), '');
  },
);

story(
  'A field, an operator and a value from the data are completed by the keyboard alone',
  async ({ t, page, organization }) => {
    await open({ page, organization });
    await page.keyboard.press('/');
    await page.keyboard.type('us');
    // Names of properties come from the data, and move the other options.
    await page.getByRole('option', { name: /User tier/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await comesTo(
      t,
      () => bar(page).getAttribute('aria-activedescendant'),
      await options(page).first().getAttribute('id'),
    );
    await page.keyboard.press('Enter');
    await comesTo(t, () => bar(page).inputValue(), 'user:');
    await page.keyboard.type('smi');
    const anna = page.getByRole('option', { name: 'anna smith 2 requests' });
    await anna.waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Tab');
    await comesTo(t, () => bar(page).inputValue(), 'user:"anna smith" ', 'with quotation marks');
    await page.keyboard.press('Enter');
    await asked(page, 'user:"anna smith"');
  },
);

story('Names of properties are completed, and a click takes an option', async ({ t, page, organization }) => {
  await open({ page, organization });
  await page.keyboard.press('/');
  await page.keyboard.type('tier');
  await page.getByRole('option', { name: /User tier/ }).click();
  await comesTo(t, () => bar(page).inputValue(), 'property."User tier":');
  await page.getByRole('option', { name: 'pro 1 requests' }).click();
  await page.keyboard.press('Enter');
  await asked(page, 'property."User tier":pro');
});

story('Completing is undone as typing is', async ({ t, page, organization }) => {
  await open({ page, organization });
  await page.keyboard.press('/');
  await page.keyboard.type('stat');
  await page.getByRole('option', { name: /^status/ }).click();
  await comesTo(t, () => bar(page).inputValue(), 'status:');
  await page.keyboard.press('Control+z');
  await comesTo(t, () => bar(page).inputValue(), 'stat');
});

story(
  'A mistake is not asked: Enter shows it under its part with the sentence of the API',
  async ({ t, page, organization }) => {
    await page.clock.install();
    await open({ page, organization });
    // No pause of the writing, however slow the machine.
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.keyboard.press('/');
    await page.keyboard.type('user:anna status:abc');
    await comesTo(t, () => bar(page).getAttribute('aria-invalid'), 'false', 'not while it is typed');
    await page.keyboard.press('Enter');
    await comesTo(t, () => bar(page).getAttribute('aria-invalid'), 'true');
    await comesTo(t, () => page.locator('.query-bar-fault').textContent(), 'abc');
    const id = await bar(page).getAttribute('aria-describedby');
    const sentence = await page.locator(`[id="${id}"]`).textContent();
    t.match(sentence, /^abc: status must be a number, but is "abc"/);
    t.equal(queryOf(page), '');
    await page.keyboard.press('Backspace');
    await comesTo(t, () => bar(page).getAttribute('aria-invalid'), 'false', 'not while it is mended');
  },
);

story('A mistake behind which the writing goes on shows after a pause', async ({ t, page, organization }) => {
  await open({ page, organization });
  await page.keyboard.press('/');
  await page.keyboard.type('status:abc user:anna');
  await page.locator('.query-bar-fault').waitFor();
  await comesTo(t, () => page.locator('.query-bar-fault').textContent(), 'abc');
});

story('Escape closes the list, and then leaves the field', async ({ t, page, organization }) => {
  await open({ page, organization });
  await page.keyboard.press('/');
  await page.keyboard.type('st');
  await options(page).first().waitFor();
  await page.keyboard.press('Escape');
  await comesTo(t, () => options(page).count(), 0);
  t.ok(await page.evaluate<boolean>(HAS_FOCUS));
  await page.keyboard.press('Escape');
  t.notOk(await page.evaluate<boolean>(HAS_FOCUS));
});

story(
  'Shift and Enter begin a new line, and the colours lie under the text',
  async ({ t, page, organization }) => {
    await open({ page, organization });
    await page.keyboard.press('/');
    await page.keyboard.type('status:500');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type(`"${'a long text '.repeat(30)}"`);
    const sizes = await page.evaluate<Size[]>(SIZES);
    t.same(sizes[0], sizes[1]);
    t.ok(sizes[0]!.clientHeight > 80, 'the field has grown');
    await comesToMatch(t, () => page.locator('.query-bar-overlay').textContent(), /^status:500\n"a long/);
    await page.getByText('Searches the text of bodies').waitFor();
  },
);

story('Arrow up brings earlier queries, arrow down the later ones', async ({ t, page, organization }) => {
  await open({ page, organization });
  for (const q of ['status:500', 'user:bob']) {
    await bar(page).fill(q);
    await page.keyboard.press('Enter');
    await asked(page, q);
  }
  await page.reload();
  await bar(page).focus();
  await page.keyboard.press('ArrowUp');
  await comesTo(t, () => bar(page).inputValue(), 'status:500');
  await page.keyboard.press('ArrowDown');
  await comesTo(t, () => bar(page).inputValue(), 'user:bob');
});

story('Chips remove, change and turn conditions around', async ({ t, page, organization }) => {
  await open({ page, organization }, 'status:500 user:bob cost:<1');
  const chips = page.getByRole('list', { name: 'Conditions' });
  await page.getByRole('button', { name: 'Remove cost:<1' }).click();
  await asked(page, 'status:500 user:bob');
  await chips.getByRole('button', { name: 'user:bob', exact: true }).click({ modifiers: ['Alt'] });
  await asked(page, 'status:500 -user:bob');
  await chips.getByRole('button', { name: '-user:bob', exact: true }).click();
  const selected = await page.evaluate<string>(SELECTED);
  t.equal(selected, '-user:bob');
  await chips.getByRole('button', { name: 'status:500', exact: true }).focus();
  await page.keyboard.press('Delete');
  await asked(page, '-user:bob');
});

story(
  'An id that is pasted into the empty field opens its request',
  async ({ t, page, organization, context }) => {
    const [first] = await organization.insert([{}]);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto('/requests');
    await bar(page).focus();
    await page.evaluate(`navigator.clipboard.writeText(' ${first!.request_id}\\n')`);
    await page.keyboard.press('Control+v');
    await page.waitForURL((url) => url.searchParams.get('r') === first!.request_id);
    await comesTo(t, () => bar(page).inputValue(), '');
  },
);

story('Values that are markup are offered as text', async ({ t, page, organization }) => {
  const hostile = '<img src=x onerror=alert(1)>"\n*';
  await organization.insert([{ user_id: hostile }]);
  await page.goto('/requests');
  await bar(page).fill('user:img');
  await page.getByRole('option', { name: /onerror/ }).click();
  await page.keyboard.press('Enter');
  await asked(page, `user:${JSON.stringify(hostile)}`);
  await page.getByText('1 request', { exact: true }).waitFor();
  await comesTo(t, () => page.locator('.query-bar img').count(), 0);
});

story('The question mark shows the language', async ({ page, organization }) => {
  await open({ page, organization });
  await page.getByRole('button', { name: 'How to write queries' }).click();
  await page.getByRole('dialog', { name: 'Queries' }).getByText('status:>=500').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

accessibleStory(
  'The bar with its list, a mistake and chips has no barrier',
  async ({ page, organization }) => {
    await open({ page, organization }, 'status:500 -user:bob');
    await bar(page).focus();
    await page.keyboard.press('End');
    await page.keyboard.type(' status:abc user:');
    await page.locator('.query-bar-fault').waitFor();
    await page.getByRole('option', { name: /anna/ }).waitFor();
    await page.keyboard.press('ArrowDown');
  },
);

story('Enter that ends a composition asks nothing, also where the browser says it is over', async (stage) => {
  const { t, page } = stage;
  await page.goto('/requests');
  const bar = page.locator('textarea.query-bar-field');
  await bar.fill('status:200');
  // As Safari has it: no longer composing, and the code of a key that the input method took.
  await bar.dispatchEvent('keydown', { key: 'Enter', keyCode: 229, isComposing: false, bubbles: true });
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  t.notMatch(page.url(), /q=/);
  await page.keyboard.press('Escape');
  await bar.press('Enter');
  await page.waitForURL(/q=status/);
});
