import { accessibleStory } from '../../../../support/browser/mod.ts';

type Stage = Parameters<Parameters<typeof accessibleStory>[1]>[0];

async function insert({ organization }: Stage) {
  const now = Date.now();
  return await organization.insert(
    Array.from({ length: 8 }, (_, index) => ({
      user_id: `user ${index}`,
      created_at: new Date(now - (index + 1) * 60_000),
      status: [200, 429, 500][index % 3]!,
      cost_nano: 12_000_000,
      total_tokens: 1_234,
      preview_in: 'What is the capital of Norway, and how many people live there?',
      preview_out: 'Oslo, and some 700,000.',
      scores: { helpful: 0.5, 'a very long name of a score': 3 },
      feedback_rating: index % 2 === 0,
      properties: { Plan: 'team' },
      request_text:
        '{"model":"gpt-4o","messages":[{"role":"user","content":"What is the capital of Norway?"}]}',
      response_text:
        '{"choices":[{"index":0,"message":{"role":"assistant","content":"Oslo"},"finish_reason":"stop"}]}',
    })),
  );
}

accessibleStory('The list with an open request has no barrier', async (stage) => {
  const rows = await insert(stage);
  await stage.page.goto(`/requests?r=${rows[1]!.request_id}`);
  await stage.page.locator('.grid-row').nth(5).waitFor();
  await stage.page.locator('.conversation-message').first().waitFor();
});

accessibleStory('The list with facets and selected rows has no barrier', async (stage) => {
  await insert(stage);
  const { page } = stage;
  await page.goto('/requests?facets=1');
  await page.locator('.grid-row').nth(5).getByRole('checkbox').click();
  await page.getByText('1 selected').waitFor();
  await page.getByRole('region', { name: 'Values to filter by' }).waitFor();
});

accessibleStory('An empty list has no barrier', async (stage) => {
  await insert(stage);
  await stage.page.goto('/requests?q=user:nobody');
  await stage.page.getByRole('button', { name: 'Without user:nobody' }).waitFor();
});

accessibleStory('A product without requests has no barrier', async ({ page }) => {
  await page.goto('/requests');
  await page.getByRole('heading', { name: 'No request yet' }).waitFor();
});

accessibleStory('The chooser of columns has no barrier', async (stage) => {
  await insert(stage);
  const { page } = stage;
  await page.goto('/requests');
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('button', { name: 'Columns…' }).click();
  await page.getByRole('button', { name: '+ Property Plan' }).waitFor();
});
