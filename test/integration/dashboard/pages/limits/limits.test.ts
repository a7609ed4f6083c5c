import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';

const COUNTER = {
  unit: 'request',
  api_key_id: null,
  segment: 'user',
  value: 'ada <b>',
  is_key_policy: false,
  window_seconds: 60,
  quota: 100,
  used: 90,
  reserved: 0,
  remaining: 10,
  reset_seconds: 59,
};
const MONEY = {
  ...COUNTER,
  unit: 'cents',
  segment: null,
  value: null,
  is_key_policy: true,
  quota: 50,
  used: 0.027,
};

story(
  'Counters show what is used of their quota, and are found by a text in the address',
  async ({ t, page }) => {
    await page.route(/\/v1\/rate-limit\/usage(\?|$)/, (route) => {
      // As an API answers that does not know the parameter: all counters without it.
      const isAll = !new URL(route.request().url()).searchParams.has('search');
      return route.fulfill({ json: { data: isAll ? [COUNTER, MONEY] : [COUNTER], error: null } });
    });
    await page.goto('/limits');
    await page.getByText('90 of 100').waitFor();
    await page.getByText('$0.00027 of $0.50').waitFor();
    const value = page.getByRole('link', { name: 'ada <b>' });
    await comesToMatch(t, () => value.getAttribute('href'), /^\/requests\?q=user:/);
    await page.getByLabel('Find').fill('ADA');
    await page.getByText('$0.00027 of $0.50').waitFor({ state: 'detached' });
    t.match(page.url(), 'find=ADA');
  },
);

story('A counter is found that a thousand others are nearer to their quota than', async (stage) => {
  const { page, organization, product } = stage;
  const { organizationId, keyId } = organization;
  await product.database.sql`update assay.api_keys set name = 'The bot' where key_id = ${keyId}`;
  await product.database.sql`
    with now (ms) as (select floor(extract(epoch from now()) * 1000)::int8)
    insert into assay.limit_counters (organization_id, counter_key, api_key_id, unit, segment, value, seen_ms, expires_at, windows)
    select ${organizationId}, sha256(n::text::bytea), case n when 1002 then ${keyId}::uuid end, 'request', 'user',
           case n when 1001 then 'ada_lovelace' else 'user ' || n end, ms, now() + interval '1 hour',
           array[jsonb_populate_record(assay.limit_add(assay.limit_new_window('{}', 3600, 60000, 61, ms), ms, 1),
                                       jsonb_build_object('quota', 100 + n))]
      from now, generate_series(1, 1002) n`;
  await page.goto('/limits');
  const counters = page.getByRole('table', { name: 'Counters of rate limits' });
  await counters.getByText('1 of 101', { exact: true }).waitFor();
  await page.getByLabel('Find').fill(' A_LOVE ');
  await counters.getByText('1 of 1,101', { exact: true }).waitFor();
  await counters.getByText('1 of 101', { exact: true }).waitFor({ state: 'detached' });
  await page.getByLabel('Find').fill('the bot');
  await counters.getByText('1 of 1,102', { exact: true }).waitFor();
  await page.getByLabel('Find').fill('a%love');
  await page.getByText('No counter has this text').waitFor();
});

story('Refused calls are counted by user, with a link to the requests', async ({ t, page, organization }) => {
  await organization.insert([
    { status: 429, user_id: 'ada' },
    { status: 429, user_id: 'ada' },
    { status: 200, user_id: 'bob' },
  ]);
  await page.goto('/limits?range=24h');
  await page.getByText('No limit is in use').waitFor();
  const table = page.getByRole('table', { name: 'Refused calls by user' });
  await comesToMatch(t, () => table.getByRole('row').nth(1).textContent(), /^ada2$/);
  await comesTo(t, () => table.getByText('bob').count(), 0);
  await table.getByRole('link', { name: 'ada' }).click();
  await page.waitForURL('**/requests?*');
  const { searchParams } = new URL(page.url());
  t.same([searchParams.get('q'), searchParams.get('range')], ['status:429 user:ada', '24h']);
});

story('A key leads to its requests, and to those that were refused', async ({ t, page, organization }) => {
  const { keyId } = organization;
  await organization.insert([{ status: 429, api_key_id: keyId }, { status: 429 }, { api_key_id: keyId }]);
  await page.route(/\/v1\/rate-limit\/usage(\?|$)/, (route) =>
    route.fulfill({ json: { data: [{ ...COUNTER, api_key_id: keyId }], error: null } }),
  );
  await page.goto('/limits?range=24h');
  const counters = page.getByRole('table', { name: 'Counters of rate limits' });
  const link = counters.getByRole('link', { name: 'sk-assay-' });
  await comesTo(t, () => link.getAttribute('href'), `/requests?q=api_key:${keyId}`);
  const refused = page.getByRole('table', { name: 'Refused calls by key' });
  await comesToMatch(
    t,
    () => refused.getByRole('link', { name: 'No key' }).getAttribute('href'),
    '-has:api_key',
  );
  await refused.getByRole('link', { name: 'sk-assay-' }).click();
  await page.waitForURL('**/requests?*');
  t.equal(new URL(page.url()).searchParams.get('q'), `status:429 api_key:${keyId}`);
  await page.getByText('1 request', { exact: true }).waitFor();
});

accessibleStory('The limits have no barrier', async ({ page, organization }) => {
  await organization.insert([{ status: 429, user_id: 'ada' }]);
  await page.route(/\/v1\/rate-limit\/usage(\?|$)/, (route) =>
    route.fulfill({ json: { data: [COUNTER, MONEY], error: null } }),
  );
  await page.goto('/limits');
  await page.getByText('90 of 100').waitFor();
  await page.getByRole('table', { name: 'Refused calls by user' }).waitFor();
});
