import { createKey, createOrganization, hashApiKey, SCOPES } from '#platform/keys/mod.ts';
import type { Sql, TransactionSql } from '#platform/postgres/mod.ts';

const FIRST_ORGANIZATION = 'default';

async function firstOrganizationId(tx: TransactionSql): Promise<{ organizationId: string; isNew: boolean }> {
  const [oldest] = await tx<{ id: string }[]>`
    select organization_id as id from assay.organizations order by created_at, organization_id limit 1`;
  if (oldest !== undefined) return { organizationId: oldest.id, isNew: false };
  // The first organization is the operator's: it has no logging limit until one is set.
  const made = await createOrganization(tx, { name: FIRST_ORGANIZATION, tier: 'enterprise' });
  return { organizationId: made.organizationId, isNew: true };
}

/**
 * Creates the first organization and a key with all scopes when there is no organization yet, and the operator's own key
 * (`bootstrapApiKey`) whenever it is set and does not exist. Returns the created key, which cannot be read again, or null.
 */
export function ensureFirstKey(sql: Sql, bootstrapApiKey: string | null): Promise<string | null> {
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext('assay.first_key'))`;
    const { organizationId, isNew } = await firstOrganizationId(tx);
    if (bootstrapApiKey === null && !isNew) return null;
    if (bootstrapApiKey !== null) {
      const [known] = await tx`select 1 from assay.api_keys where hash = ${hashApiKey(bootstrapApiKey)}`;
      if (known !== undefined) return null;
    }
    const wanted = {
      organizationId,
      scopes: SCOPES,
      name: 'first key',
      ...(bootstrapApiKey === null ? {} : { key: bootstrapApiKey }),
    };
    return (await createKey(tx, wanted)).key;
  });
}
