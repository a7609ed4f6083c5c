/** A request as large as the gateway takes, and what a reader does with it on the dashboard. */
import type { Page } from 'playwright-core';
import type { SeedRequest } from './seed-requests.ts';

/** What the gateway takes. */
const LARGEST_BODY_BYTES = 32 * 1024 * 1024;

/** A conversation of one large text and many small ones, with a large tool's result. */
function largeRequest(): string {
  const line = 'The quick brown fox jumps over the lazy dog, and then **again**.\n';
  const text = line.repeat(Math.ceil(LARGEST_BODY_BYTES / 2 / line.length));
  const many = Array.from({ length: 10_000 }, (_, index) => ({ role: 'user', content: `Message ${index}` }));
  const rows = Array.from({ length: 100_000 }, (_, index) => ({
    index,
    name: `row ${index}`,
    value: index / 7,
  }));
  return JSON.stringify({
    messages: [
      { role: 'user', content: text },
      { role: 'tool', tool_call_id: 'c1', content: JSON.stringify(rows) },
      ...many,
    ],
    metadata: { rows },
    needle: 'last of all',
  });
}

/** Returns a record of a large request and one of a small request, to be inserted. */
export function largeAndSmallRecord(): Partial<SeedRequest>[] {
  return [
    {
      request_text: largeRequest(),
      response_text: JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'Yes.' } }] }),
    },
    { request_text: JSON.stringify({ messages: [{ role: 'user', content: 'Small.' }] }) },
  ];
}

/** Opens a small record, so that what follows is the work of the large one and not of the page's start. */
export async function openSmallRecord(page: Page, requestId: string): Promise<void> {
  await page.goto(`/requests/${requestId}?view=text`);
  await page.getByText('Small.').first().waitFor();
}

/** Goes from a record to the large one without a new page, and reads, searches and scrolls all of it. */
export async function readLargeRecord(page: Page, requestId: string): Promise<void> {
  await page.evaluate(
    `history.pushState({}, '', '/requests/${requestId}?view=text'); dispatchEvent(new PopStateEvent('popstate'));`,
  );
  await page.getByText('Yes.').first().waitFor();
  await page.getByText('Message 5', { exact: true }).waitFor();
  await page
    .getByRole('button', { name: /^Show 1 MiB more/ })
    .first()
    .click();
  await page
    .getByRole('button', { name: /^Show 1 MiB more/, disabled: false })
    .first()
    .waitFor();
  await page.getByRole('tab', { name: 'Raw request' }).click();
  await page.getByRole('treeitem', { name: /messages/ }).waitFor();
  await page.getByRole('searchbox').last().fill('last of ALL');
  await page.keyboard.press('Enter');
  await page.getByText('1 found').waitFor();
  await page.getByRole('button', { name: /request.needle/ }).click();
  await page.locator('.json-wanted').waitFor();
  await page.getByRole('button', { name: 'Lines' }).click();
  for (const share of [0, 0.5, 0.9, 0.1]) {
    await page.evaluate(
      `(() => { const one = document.querySelector('.json-lines'); one.scrollTop = one.scrollHeight * ${share}; })()`,
    );
    await page.locator('.json-line-number:not(:empty)').first().waitFor();
  }
}
