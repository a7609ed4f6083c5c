import { encodeEntry } from '#core/contracts/dead-letter-codec.ts';
import { newRequestId } from '#platform/process/ids.ts';
import { comesTo, comesToMatch } from '../../../../support/browser/comes-to.ts';
import { accessibleStory, type Stage, story } from '../../../../support/browser/mod.ts';
import { logEntry } from '../../../../support/log-entries.ts';

const REASON = 'value too long for <b onclick=alert(1)>x</b>';

type Given = { reason?: string; head?: string; request?: unknown };

/** Keeps a letter of the story's organization; returns its id, and that of its request. */
async function keep({ organization, product }: Pick<Stage, 'organization' | 'product'>, given: Given = {}) {
  const { organizationId } = organization;
  // No two letters have the same bytes.
  const entry = logEntry({ organizationId }, { request: given.request ?? { model: newRequestId() } });
  const head = given.head === undefined ? entry.head : Buffer.from(given.head);
  const [row] = await product.database.sql<{ id: string }[]>`
    insert into assay.dead_letters (origin, organization_id, request_id, reason, entry)
    values ('outbox/1/2', ${organizationId}, ${entry.id}, ${given.reason ?? 'why'}, ${encodeEntry({ ...entry, head })})
    returning dead_letter_id::text as id`;
  return { id: row!.id, requestId: entry.id };
}

story('Without dead letters the page says that all is stored', async ({ page }) => {
  await page.goto('/dead-letters');
  await page.getByText('There are no dead letters').waitFor();
});

story(
  'A letter is opened by its link, its hostile parts as text, and retried',
  async ({ t, page, ...stage }) => {
    const { id, requestId } = await keep(stage, {
      reason: REASON,
      request: { model: '<script>alert(1)</script>' },
    });
    await page.goto('/dead-letters');
    await comesToMatch(t, () => page.getByRole('row').nth(1).textContent(), REASON);
    await page.getByRole('link', { name: `letter ${id}` }).click();
    const dialog = page.getByRole('dialog', { name: `Dead letter ${id}` });
    await dialog.getByText('Request body').click();
    await dialog.getByText('<script>alert(1)</script>').waitFor();
    t.match(page.url(), `letter=${id}`);
    await dialog.getByRole('button', { name: 'Retry' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('There are no dead letters').waitFor();
    const stored = await stage.product.database
      .sql`select 1 from assay.requests where request_id = ${requestId}`;
    t.equal(stored.length, 1);
  },
);

story('A letter that is refused again stays open with the new reason', async ({ page, ...stage }) => {
  const { id } = await keep(stage, { head: 'no head' });
  await page.goto(`/dead-letters?letter=${id}`);
  await page.getByRole('button', { name: 'Retry', exact: true }).click();
  await page.getByRole('dialog').getByText('Refused again').waitFor();
});

story('A letter is dropped only after a question', async ({ t, page, ...stage }) => {
  const { id } = await keep(stage);
  await page.goto(`/dead-letters?letter=${id}`);
  await page.getByRole('button', { name: 'Drop' }).click();
  await page.getByRole('dialog', { name: 'Drop this letter?' }).getByRole('button', { name: 'Drop' }).click();
  await page.getByText('There are no dead letters').waitFor();
  const left = await stage.product.database
    .sql`select 1 from assay.dead_letters where dead_letter_id = ${id}`;
  t.equal(left.length, 0);
});

story('All letters of one reason are retried, and those of others stay', async ({ page, ...stage }) => {
  for (let index = 0; index < 3; index += 1) await keep(stage, { reason: REASON });
  await keep(stage, { reason: REASON, head: 'no head' });
  await keep(stage, { reason: 'another' });
  await page.goto('/dead-letters');
  await page.getByRole('link', { name: REASON }).first().click();
  await page.getByRole('button', { name: 'Retry all of this reason' }).click();
  await page.getByRole('button', { name: 'Retry all', exact: true }).click();
  await page.getByText('3 stored, 1 refused again. All have been retried.').waitFor();
  await page.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('button', { name: 'Show all reasons' }).click();
  await page.getByRole('link', { name: 'another' }).waitFor();
});

story('All letters are retried, whatever their reasons, with the numbers', async ({ t, page, ...stage }) => {
  await page.goto('/dead-letters');
  await page.getByText('There are no dead letters').waitFor();
  await comesTo(
    t,
    () => page.getByRole('button', { name: 'Retry all letters' }).count(),
    0,
    'there are none',
  );
  await keep(stage, { reason: REASON });
  await keep(stage, { reason: 'another' });
  await keep(stage, { reason: 'a third', head: 'no head' });
  await page.reload();
  await page.getByRole('button', { name: 'Retry all letters' }).click();
  await page.getByRole('button', { name: 'Retry all', exact: true }).click();
  await page.getByText('2 stored, 1 refused again. All have been retried.').waitFor();
  await page.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('row').nth(2).waitFor({ state: 'detached' });
  await page.getByRole('row').nth(1).waitFor();
});

story(
  'A key that may only read sees letters and cannot retry them',
  async ({ t, page, ...stage }) => {
    const { id } = await keep(stage);
    await page.goto(`/dead-letters?letter=${id}`);
    await page.getByText('needs the scope write').waitFor();
    await comesTo(t, () => page.getByRole('button', { name: 'Retry', exact: true }).isDisabled(), true);
    await comesTo(t, () => page.getByRole('button', { name: 'Retry all letters' }).isDisabled(), true);
    await comesTo(t, () => page.getByRole('button', { name: 'Drop' }).isDisabled(), true);
  },
  { scopes: ['read'] },
);

accessibleStory('The dead letters have no barrier', async ({ page, ...stage }) => {
  await keep(stage, { reason: REASON });
  await page.goto('/dead-letters');
  await page.getByRole('row').nth(1).waitFor();
});

accessibleStory('A dead letter has no barrier', async ({ page, ...stage }) => {
  const { id } = await keep(stage);
  await page.goto(`/dead-letters?letter=${id}`);
  await page.getByText('Request body').click();
});

story('After a stop the list shows what has been retried until then', async ({ page, ...stage }) => {
  for (let index = 0; index < 3; index += 1) await keep(stage, { reason: REASON });
  let retried = 0;
  const isHeld = Promise.withResolvers<void>();
  await page.route('**/v1/dead-letter/*/retry', async (route) => {
    retried += 1;
    if (retried === 1) return route.continue();
    // It never gets there.
    isHeld.resolve();
  });
  await page.goto('/dead-letters');
  await page.getByRole('link', { name: REASON }).first().click();
  await page.getByRole('button', { name: 'Retry all of this reason' }).click();
  await page.getByRole('button', { name: 'Retry all', exact: true }).click();
  await isHeld.promise;
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('row').nth(3).waitFor({ state: 'detached' });
  await page.getByRole('row').nth(2).waitFor();
});
