import type { Page } from 'playwright-core';
import { createKey } from '#platform/keys/mod.ts';
import { story } from '../../../../support/browser/mod.ts';
import { settles } from '../../../../support/browser/settles.ts';
import { startAttacker } from '../../../../support/hostile/attacker.ts';
import { storableText, thirdOfHostileTexts } from '../../../../support/hostile/mod.ts';

/** UTF-16 code units of a name. */
const LONGEST = 200;

const DIALOGS = { edit: 'Change the key', rotate: 'Rotate the key', revoke: 'Revoke the key' };

/** Opens the dialogs of a key, each by its address, as a link of the page does. */
async function showDialogs(page: Page, id: string): Promise<void> {
  for (const [name, title] of Object.entries(DIALOGS)) {
    const address = JSON.stringify(`/keys?${name}=${id}`);
    await page.evaluate(
      `history.pushState(null, '', ${address}); dispatchEvent(new PopStateEvent('popstate'));`,
    );
    await page.locator('dialog h2', { hasText: title }).waitFor();
  }
}

story(
  'No name, owner or tag of a key runs, asks anybody or violates the policy where keys are listed or named',
  async ({ t, page, organization, product }) => {
    const { sql } = product.database;
    const { organizationId } = organization;
    const attacker = await startAttacker(t);
    const texts = thirdOfHostileTexts(attacker.origin, 2);
    const firsts = [...Map.groupBy(texts, ({ family }) => family).values()].map(([first]) => first!);
    // The newest ones are those that are named beside requests.
    const others = texts.filter((text) => !firsts.includes(text));
    const keyIds: string[] = [];
    for (const { text } of [...others, ...firsts]) {
      const name = storableText(text, LONGEST);
      const made = await createKey(sql, {
        organizationId,
        scopes: ['read'],
        name,
        owner: name,
        tags: [name],
      });
      keyIds.push(made.record.keyId);
    }
    const used = keyIds.slice(-firsts.length);
    const requests = await organization.insert(used.map(() => ({ status: 429 })));
    for (const [index, { request_id }] of requests.entries())
      await sql`update assay.requests set api_key_id = ${used[index]!} where request_id = ${request_id}`;
    const isUnharmed = async (where: string) => {
      await settles(page);
      t.equal(await page.evaluate('globalThis.__pwned'), undefined, `${where}: nothing ran`);
      t.equal(await page.evaluate('({}).polluted'), undefined, `${where}: no prototype changed`);
    };

    await page.goto('/keys');
    const rows = page.getByRole('table', { name: 'API keys' }).locator('tbody tr');
    await page.getByRole('button', { name: 'Older' }).click();
    await rows.nth(keyIds.length - 1).waitFor();
    await isUnharmed('the list');
    for (const [index, { family }] of firsts.entries()) {
      await showDialogs(page, used[index]!);
      await isUnharmed(`the dialogs, ${family}`);
    }
    await page.goto('/?range=24h');
    await page
      .locator('section', { has: page.getByRole('heading', { name: 'API keys' }) })
      .locator('bdi')
      .first()
      .waitFor();
    await isUnharmed('the overview');
    await page.goto('/limits?range=24h');
    await page.getByRole('table', { name: 'Refused calls by key' }).locator('bdi').first().waitFor();
    await isUnharmed('the limits');
    t.same(attacker.asked, [], 'nobody was asked');
  },
);
