import { comesTo } from '../../../../support/browser/comes-to.ts';
import { followNavigation } from '../../../../support/browser/follow-navigation.ts';
import { story } from '../../../../support/browser/mod.ts';

const ROWS = '/v1/request/rows';

story(
  'The list is asked for before its counts and its chart, which do not wait for a slow one',
  async ({ t, page, organization }) => {
    await organization.insert([{ user_id: 'anna' }]);
    const held = Promise.withResolvers<void>();
    const asked: string[] = [];
    await page.route(/\/v1\/(?:request|metrics)\//, async (route) => {
      asked.push(new URL(route.request().url()).pathname);
      if (asked.at(-1) === ROWS) await held.promise;
      await route.continue();
    });
    await page.goto('/requests');
    await page.getByRole('button', { name: 'Errors 0' }).waitFor();
    await page.getByText('1 request', { exact: true }).waitFor();
    t.equal(asked[0], ROWS);
    await comesTo(t, () => page.locator('.grid-row').count(), 0, 'the list is not there yet');
    held.resolve();
    await page.locator('.grid-row').waitFor();
  },
);

story(
  'A link of a value adds to the query of the moment, also when its row has not been rendered since',
  async ({ t, page, organization }) => {
    await organization.insert([{ user_id: 'anna' }, { user_id: 'anna', provider: 'ANTHROPIC' }]);
    await page.goto('/requests?cols=request_created_at,request_user_id,provider');
    const users = page.locator('.grid').getByRole('link', { name: 'anna' });
    await users.first().waitFor();
    // Nothing is rendered by it.
    await page.evaluate(`history.pushState(null, '', location.href + '&facets=1&q=status:200')`);
    await users.first().focus();
    const href = await users.first().getAttribute('href');
    const { searchParams } = new URL(href!, page.url());
    t.same(Object.fromEntries(searchParams), {
      cols: 'request_created_at,request_user_id,provider',
      facets: '1',
      q: 'status:200 user:anna',
    });
  },
);

story(
  'A link to a request far down a list that was shown before asks for the rows around it, and for no others first',
  async ({ t, page, organization }) => {
    const now = Date.now();
    const records = await organization.insert(
      Array.from({ length: 300 }, (_, index) => ({
        user_id: `u${index}`,
        created_at: new Date(now - (index + 1) * 1_000),
      })),
    );
    await page.goto('/requests');
    await page.locator('.grid').getByRole('link', { name: 'u0', exact: true }).waitFor();
    await followNavigation(page, 'Users');
    await page.getByRole('heading', { name: 'Users' }).waitFor();
    const bodies: string[] = [];
    const held = Promise.withResolvers<void>();
    await page.route(`**${ROWS}`, async (route) => {
      bodies.push(route.request().postData()!);
      await held.promise;
      await route.continue();
    });
    const linked = records[200]!.request_id;
    await page.evaluate(
      `history.pushState(null, '', '/requests?r=${linked}'); dispatchEvent(new PopStateEvent('popstate'))`,
    );
    await page.getByRole('complementary', { name: 'Request' }).waitFor();
    await comesTo(t, () => page.locator('.grid-row').count(), 0, 'the rows before are elsewhere');
    held.resolve();
    await page.locator('.grid-row-current').getByRole('link', { name: 'u200', exact: true }).waitFor();
    t.match(JSON.parse(bodies[0]!), { around: linked });
    for (const body of bodies.slice(1)) t.notMatch(JSON.parse(body), { around: linked }, 'once');
  },
);
