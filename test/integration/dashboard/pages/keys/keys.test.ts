import type { KeyJson } from '#core/contracts/keys.ts';
import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';
import { callAs } from '../as.ts';

/** What would be seen as markup, and a text that turns the rest of its line around. */
const HOSTILE = 'ab\u202ecd <img src=x onerror=alert(1)>';

story('A key is created, shown once with calls that use it, and works', async ({ t, page, product }) => {
  await page.goto('/keys');
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('nightly report');
  await page.getByRole('checkbox', { name: /^read/ }).check();
  await page.getByRole('textbox', { name: 'Models' }).fill('gpt-4o*\nanthropic/*');
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog', { name: 'The key nightly report' });
  const key = await dialog.locator('.secret code').textContent();
  t.match(key, /^sk-assay-/);
  await comesToMatch(t, () => dialog.locator('pre').first().textContent(), key!, 'the calls have the key');
  t.notMatch(page.url(), key, 'the address does not');
  t.equal(
    (await fetch(`${product.url}/v1/organization`, { headers: { authorization: `Bearer ${key}` } })).status,
    200,
  );
  await page.keyboard.press('Escape');
  await dialog.getByText('It cannot be shown again').waitFor();
  await dialog.getByRole('button', { name: 'I have kept it' }).click();
  await dialog.waitFor({ state: 'detached' });
  const row = page.getByRole('row', { name: 'nightly report' });
  await comesToMatch(t, () => row.textContent(), /gpt-4o\*anthropic\/\*/);
  await page.reload();
  await row.waitFor();
  t.notMatch(await page.content(), key, 'nor does the page any more');
});

story('A policy that cannot be parsed is refused beside its field', async ({ t, page, expectComplaint }) => {
  await page.goto('/keys?new=1');
  await page.getByRole('textbox', { name: 'Name' }).fill('limited');
  await page.getByLabel('Rate-limit policy').fill('many;w=60');
  await page.getByRole('button', { name: 'Create key' }).click();
  const field = page.getByLabel('Rate-limit policy');
  await page.getByText('Invalid rate-limit policy').waitFor();
  await comesTo(t, () => field.getAttribute('aria-invalid'), 'true');
  const described = await field.getAttribute('aria-describedby');
  await comesToMatch(t, () => page.locator(`[id="${described}"]`).textContent(), /Invalid/);
  expectComplaint(/status of 400/);
});

story(
  'A key is rotated: both work for the overlap, the new one is shown once',
  async ({ t, page, ...stage }) => {
    const { key } = await callAs<{ key: string }>(stage, 'POST', '/v1/keys', {
      name: 'old',
      scopes: ['read'],
    });
    await page.goto('/keys');
    await page.getByRole('button', { name: 'Rotate the key old' }).click();
    await page.getByLabel('The old key').selectOption('3600');
    await page.getByRole('button', { name: 'Rotate', exact: true }).click();
    const next = await page.locator('.secret code').textContent();
    t.not(next, key);
    const keys = await callAs<KeyJson[]>(stage, 'GET', '/v1/keys');
    const [made, old] = keys.filter(({ name }) => name === 'old');
    t.equal(made?.rotated_from, old?.id);
    t.ok(Date.parse(old!.expires_at!) > Date.now() + 3_500_000, 'the old one ends in an hour');
  },
);

story(
  'A key leads to its usage, to its requests, and to those that were refused',
  async ({ t, page, organization }) => {
    const { keyId } = organization;
    await organization.insert([{ status: 429, api_key_id: keyId }, { api_key_id: keyId }, { status: 429 }]);
    await page.goto('/keys');
    const links = page.getByRole('link', { name: /^All requests of the key/ });
    await links.first().waitFor();
    const hrefs = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    t.ok(hrefs.includes(`/requests?q=api_key:${keyId}`));
    await page.locator(`a[href="/requests?q=status:429+api_key:${keyId}"]`).click();
    await page.getByText('1 request', { exact: true }).waitFor();
    await page.goto('/keys');
    await page.locator(`a[href="/?q=api_key:${keyId}"]`).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('50%', { exact: true }).first().waitFor();
  },
);

story('A key is revoked only after a question', async ({ t, page, ...stage }) => {
  await callAs(stage, 'POST', '/v1/keys', { name: 'leaked', scopes: ['gateway'] });
  await page.goto('/keys');
  const row = page.getByRole('row', { name: 'leaked' });
  await row.getByRole('button', { name: 'Revoke' }).click();
  const question = page.getByRole('dialog', { name: 'Revoke the key leaked?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  await comesTo(t, () => row.count(), 1);
  await row.getByRole('button', { name: 'Revoke' }).click();
  await question.getByRole('button', { name: 'Revoke' }).click();
  await row.waitFor({ state: 'detached' });
  await page.getByLabel('State').selectOption('revoked');
  await row.waitFor();
  t.match(page.url(), 'state=revoked');
});

story('Each of many keys can be reached: by pages, by a text, by its address', async (stage) => {
  const { t, page, organization, product } = stage;
  const made = await product.database.sql<{ id: string; name: string }[]>`
    insert into assay.api_keys (organization_id, name, prefix, hash, scopes, owner, created_at)
    select ${organization.organizationId}, 'many ' || n, 'sk-assay-abc', sha256(gen_random_uuid()::text::bytea), '{read}',
           'owner ' || n, now() - n * interval '1 minute' from generate_series(1, 2100) n returning key_id as id, name`;
  await page.goto('/keys');
  const row = (name: string) => page.getByRole('row').filter({ hasText: new RegExp(`${name}\\b`) });
  await row('many 1').waitFor();
  await comesTo(t, () => page.getByRole('row').count(), 101);
  await page.getByRole('button', { name: 'Older' }).click();
  await row('many 150').waitFor();
  await page.getByLabel('Find').fill('OWNER 2099');
  await row('many 2099').waitFor();
  await comesTo(t, () => page.getByRole('row').count(), 2, 'the head, and the one');
  await page.getByLabel('Find').fill('nobody');
  await page.getByText('No key has this text').waitFor();
  await page.goto(`/keys?edit=${made.find(({ name }) => name === 'many 2000')!.id}`);
  await comesTo(t, () => page.getByRole('textbox', { name: 'Name' }).inputValue(), 'many 2000');
});

story(
  'A change sends what was changed, and keys are found by a text in the address',
  async ({ t, page, ...stage }) => {
    await callAs(stage, 'POST', '/v1/keys', { name: 'first', scopes: ['read'], owner: 'ada@example.com' });
    await callAs(stage, 'POST', '/v1/keys', { name: 'second', scopes: ['read'] });
    await page.goto('/keys?find=ADA@');
    await page.getByRole('row', { name: 'first' }).waitFor();
    await comesTo(t, () => page.getByRole('row', { name: 'second' }).count(), 0);
    const change = page.waitForRequest((request) => request.method() === 'PATCH');
    await page.getByRole('button', { name: 'Change the key first' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('renamed');
    await page.getByRole('button', { name: 'Save' }).click();
    t.same((await change).postDataJSON(), { name: 'renamed' });
    await page.getByRole('row', { name: 'renamed' }).waitFor();
  },
);

story(
  'Hostile names of keys are text, and what would turn the line is a mark',
  async ({ t, page, ...stage }) => {
    await callAs(stage, 'POST', '/v1/keys', {
      name: HOSTILE,
      scopes: ['read'],
      tags: ['<script>alert(1)</script>'],
    });
    await page.goto('/keys');
    const row = page.getByRole('row', { name: 'onerror' });
    await comesToMatch(t, () => row.textContent(), /<img src=x onerror=alert\(1\)>/);
    await comesTo(t, () => row.locator('.text-mark').count(), 1);
    await row.getByRole('button', { name: 'Revoke' }).click();
    const title = page.getByRole('dialog').getByRole('heading');
    await title.locator('.text-mark').waitFor();
    await comesToMatch(t, () => title.textContent(), /<img src=x onerror=alert\(1\)>/);
    await comesTo(t, () => page.locator('main img, main script').count(), 0);
  },
);

story(
  'A key without the scope write is told which scope is missing',
  async ({ page }) => {
    await page.goto('/keys');
    await page.getByText('Seeing and making API keys needs the scope write').waitFor();
  },
  { scopes: ['read'] },
);

story(
  'A failure of the list shows the sentence of the API, and a retry',
  async ({ page, expectComplaint }) => {
    let isBroken = true;
    await page.route('**/v1/keys?*', (route) =>
      isBroken
        ? route.fulfill({ status: 503, json: { data: null, error: 'The store cannot be reached' } })
        : route.fallback(),
    );
    await page.goto('/keys');
    await page.getByRole('alert').getByText('The store cannot be reached').waitFor();
    isBroken = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('table', { name: 'API keys' }).waitFor();
    expectComplaint(/status of 503/);
  },
);

story('A provider key is stored and removed, and never shown', async ({ t, page }) => {
  await page.goto('/keys?tab=provider-keys');
  await page.getByText('No provider key is stored').waitFor();
  await page.getByRole('button', { name: 'Add a provider key' }).click();
  await page.getByLabel('Provider', { exact: true }).selectOption('mistral');
  await page.getByLabel('Key', { exact: true }).fill('sk-mistral-0123456789abcdefghij');
  await page.getByRole('button', { name: 'Store' }).click();
  const row = page.getByRole('row', { name: 'mistral' });
  await comesToMatch(
    t,
    () => row.textContent(),
    /^Mistral…ghij.*never/,
    'by its usual name, and never replaced',
  );
  t.notMatch(await page.content(), 'sk-mistral');
  await row.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('No provider key is stored').waitFor();
});

accessibleStory('The keys have no barrier', async ({ page, ...stage }) => {
  await callAs(stage, 'POST', '/v1/keys', {
    name: 'report',
    scopes: ['read'],
    models: ['gpt-4o*'],
    tags: ['eu'],
  });
  await page.goto('/keys');
  await page.getByRole('row', { name: 'report' }).waitFor();
});

accessibleStory('The form of a key has no barrier', async ({ page }) => {
  await page.goto('/keys?new=1');
  await page.getByRole('textbox', { name: 'Name' }).waitFor();
});
