import { comesTo } from '../../../support/browser/comes-to.ts';
import { story } from '../../../support/browser/mod.ts';

type Operation = { tags?: string[] };

story(
  "The API reference shows the operations of each group, can call none, and has no part of the dashboard's origin",
  async ({ t, page, product }) => {
    const document = (await (await fetch(`${product.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, Operation>>;
    };
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
    const groups = new Set(operations.flatMap(({ tags = ['default'] }) => tags));
    const views = operations.filter(({ tags }) => tags?.includes('Views'));
    await page.goto('/openapi');
    await page
      .locator('.opblock-tag')
      .nth(groups.size - 1)
      .waitFor({ timeout: 60_000 });
    await comesTo(t, () => page.locator('.opblock-tag').count(), groups.size);
    await comesTo(t, () => page.getByRole('main').count(), 1, 'one main part, which screen readers go to');
    await page.locator('.opblock-tag', { hasText: 'Views' }).click();
    await page
      .locator('.opblock')
      .nth(views.length - 1)
      .waitFor();
    await comesTo(t, () => page.locator('.opblock').count(), views.length);
    await page.locator('.opblock').first().click();
    await page.locator('.opblock.is-open .opblock-body').waitFor();
    await comesTo(t, () => page.getByRole('button', { name: /try it out|authorize/i }).count(), 0);
    await comesTo(t, () => page.evaluate('self.origin'), 'null');
    await t.rejects(page.evaluate('document.cookie'), /SecurityError|sandboxed/);
    await t.rejects(page.evaluate('localStorage.length'), /SecurityError|sandboxed/);
  },
);
