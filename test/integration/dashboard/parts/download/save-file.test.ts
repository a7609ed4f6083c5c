import { comesTo } from '../../../../support/browser/comes-to.ts';
import { story } from '../../../../support/browser/mod.ts';
import { makeDataset } from '../../pages/experiments/measured.ts';

story('A file that the API does not give is no download: its sentence is shown', async (stage) => {
  const { t, page, expectComplaint } = stage;
  const { id } = await makeDataset(stage);
  let downloads = 0;
  page.on('download', () => {
    downloads += 1;
  });
  await page.route('**/export?**', (route) =>
    route.fulfill({ status: 503, json: { data: null, error: 'The database cannot be reached' } }),
  );
  await page.goto(`/datasets/${id}`);
  await page.getByRole('button', { name: 'Export version 1' }).click();
  await page.getByText('The database cannot be reached').waitFor();
  await comesTo(t, async () => downloads, 0);
  await page.unrouteAll({ behavior: 'wait' });
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export version 1' }).click();
  t.equal((await download).suggestedFilename(), 'Refunds-v1.jsonl');
  expectComplaint(/status of 503/);
});
