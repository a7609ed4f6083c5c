import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, story } from '../../../../support/browser/mod.ts';
import type { SeedRequest } from '../../../../support/seed-requests.ts';

const HOUR_AGO = new Date(Date.now() - 3_600_000);

function requests(user_id: string, count: number, more: Partial<SeedRequest> = {}): Partial<SeedRequest>[] {
  return Array.from({ length: count }, () => ({ user_id, created_at: HOUR_AGO, ...more }));
}

story(
  'A user has totals, models, sessions and the latest requests of their own alone',
  async ({ t, page, organization }) => {
    await organization.insert([
      ...requests('ada', 2, {
        model: 'alpha',
        response_model: 'alpha',
        session_id: 'talk',
        cost_nano: 1_000_000,
      }),
      ...requests('ada', 1, { model: 'beta', status: 500, preview_in: 'What is it?' }),
      ...requests('bob', 4, { model: 'gamma', session_id: 'other' }),
    ]);
    await page.goto('/users');
    await page.getByRole('link', { name: 'ada' }).click();
    await page.getByRole('heading', { name: 'ada' }).waitFor();
    await page.getByText('What is it?').waitFor();
    const models = page.getByRole('table', { name: 'Models' });
    await models.getByText('beta').waitFor();
    await comesToMatch(t, () => models.innerText(), /alpha\s+2\s+beta\s+1/);
    await comesTo(t, () => page.getByText('gamma').count(), 0);
    await page.getByRole('table', { name: 'Sessions' }).getByRole('link', { name: 'talk' }).waitFor();
    await comesTo(t, () => page.getByRole('link', { name: 'other' }).count(), 0);
    await comesToMatch(
      t,
      () => page.locator('.fact-list').innerText(),
      /Requests\s+3\s+Errors\s+1\s+Cost\s+\$0\.002/,
    );
    await page.getByText('No limit counts this user now').waitFor();
    await page.locator('.fact-list').getByRole('link', { name: '3' }).click();
    await page.getByText('3 requests').waitFor();
    await page.goBack();
    await models.getByRole('link', { name: 'alpha' }).click();
    await page.getByText('2 requests').waitFor();
  },
);

story("A user's id may be any text", async ({ t, page, organization }) => {
  const id = 'a/b?c=%2F"\u202e<img src=x onerror=alert(1)>';
  await organization.insert(requests(id, 2));
  await page.goto('/users');
  await page.getByRole('row').nth(1).getByRole('link').first().click();
  await page.locator('.fact-list').getByRole('link', { name: '2' }).waitFor();
  await comesTo(t, () => page.locator('main img').count(), 0);
});

story('What a user cost is not said where no price is known', async ({ t, page, organization }) => {
  const priceless = requests('ada', 2, { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 });
  await organization.insert([...priceless, ...requests('bob', 1, { cost_nano: 0 })]);
  const cost = () => page.locator('.fact-list').innerText();
  await page.goto('/users/ada');
  await comesToMatch(t, cost, /Requests\s+2\s+Errors\s+0\s+Cost\s+–/);
  const chart = page.getByRole('figure', { name: 'Cost' });
  await chart.getByText('No known price').waitFor();
  await page.goto('/users/bob');
  await comesToMatch(t, cost, /Requests\s+1\s+Errors\s+0\s+Cost\s+\$0/);
  await chart.getByText('Nothing in this range').waitFor();
  await page.goto('/users');
  await comesToMatch(t, () => page.getByRole('row').filter({ hasText: 'ada' }).innerText(), /ada\s+2\s+–/);
});

story('A page of a user leads to the erasure of the requests', async ({ t, page, organization }) => {
  await organization.insert([...requests('a "b" 100%', 2), ...requests('bob', 1)]);
  await page.goto(`/users/${encodeURIComponent('a "b" 100%')}`);
  await page.getByRole('link', { name: 'Erase the requests' }).click();
  await page.getByRole('button', { name: 'Count them' }).click();
  await page.getByText('2 requests pass').waitFor();
  t.match(page.url(), 'tab=erasure');
});

story(
  'A key that may not write is offered no erasure',
  async ({ t, page, organization }) => {
    await organization.insert(requests('ada', 1));
    await page.goto('/users/ada');
    await page.getByText('No limit counts this user now').waitFor();
    t.equal(await page.getByRole('link', { name: 'Erase the requests' }).count(), 0);
  },
  { scopes: ['read'] },
);

story('The limits of a user are asked for by the user, of whom there may be many', async (stage) => {
  const { t, page, organization, product } = stage;
  const { organizationId } = organization;
  // Counters keep 256 UTF-16 code units of an id.
  const id = '😀'.repeat(200);
  await organization.insert(requests(id, 1));
  // Every other one is nearer to its quota, and a list has a thousand.
  await product.database.sql`
    with now (ms) as (select floor(extract(epoch from now()) * 1000)::int8)
    insert into assay.limit_counters (organization_id, counter_key, unit, segment, value, seen_ms, expires_at, windows)
    select ${organizationId}, sha256(n::text::bytea), 'request', 'user',
           case n when 1001 then ${id.slice(0, 256)} else 'user ' || n end, ms, now() + interval '1 hour',
           array[jsonb_populate_record(assay.limit_add(assay.limit_new_window('{}', 3600, 60000, 61, ms), ms, 1),
                                       jsonb_build_object('quota', 100 + n))]
      from now, generate_series(1, 1001) n`;
  await page.goto(`/users/${encodeURIComponent(id)}`);
  const limits = page.getByRole('table', { name: 'Limits in use now' });
  await comesToMatch(t, () => limits.innerText(), /1,101\s+1,100/);
  await comesTo(t, () => limits.getByRole('row').count(), 2, 'the head, and the one');
});

for (const [typed, id] of [
  ['/users/100%', '100%'],
  ['/users/%E4%41', '%E4%41'],
] as const) {
  story(`${typed} is the page of the user ${id}`, async ({ page, organization }) => {
    await organization.insert(requests(id, 1));
    await page.goto(typed);
    await page.getByRole('heading', { name: id }).waitFor();
    await page.locator('.fact-list').getByRole('link', { name: '1' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: id }).waitFor();
  });
}

accessibleStory('The page of a user has no barrier', async ({ page, organization }) => {
  await organization.insert(requests('ada', 2, { session_id: 'talk', preview_in: 'Hello' }));
  await page.goto('/users/ada');
  await page.getByRole('table', { name: 'Sessions' }).waitFor();
  await page.getByRole('table', { name: 'Models' }).waitFor();
  await page.locator('.fact-list').getByRole('link', { name: '2' }).waitFor();
});
