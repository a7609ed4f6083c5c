/** Organizations of a test's own. */
import { createKey, createOrganization, type Scope } from '#platform/keys/mod.ts';
import type { Sql } from '#platform/postgres/mod.ts';

let organizations = 0;

/** Creates an organization with a key of these scopes. */
export async function organizationWith(
  sql: Sql,
  scopes: readonly Scope[] = ['read', 'write'],
): Promise<{ organizationId: string; key: string }> {
  organizations += 1;
  const { organizationId } = await createOrganization(sql, { name: `export-${organizations}` });
  const { key } = await createKey(sql, { organizationId, scopes });
  return { organizationId, key };
}
