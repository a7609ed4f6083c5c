/** The end of a log-in, from elsewhere. */
import type { Page } from 'playwright-core';
import { becomesTrue } from './becomes-true.ts';
import type { Stage } from './story.ts';

const IS_REFUSED =
  "fetch('/v1/me', { headers: { 'service-csrf': '1' } }).then(({ status }) => status === 401)";

/** Ends the log-in of a page; returns whether the API has come to refuse it, which a notification of Postgres tells it. */
export async function sessionEnds(
  page: Page,
  { organization, product }: Pick<Stage, 'organization' | 'product'>,
): Promise<boolean> {
  await product.database
    .sql`delete from assay.browser_sessions where organization_id = ${organization.organizationId}`;
  return await becomesTrue(page, IS_REFUSED);
}
