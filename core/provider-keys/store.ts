import type { Sql } from '../postgres/mod.ts';
import type { SealedProviderKey } from './opener.ts';

/** What an organization has stored. Empty for one that does not exist. */
export function findSealedKeys(sql: Sql, organizationId: string): Promise<SealedProviderKey[]> {
  return sql<SealedProviderKey[]>`
    select provider, sealed from assay.provider_keys where organization_id = ${organizationId}`;
}
