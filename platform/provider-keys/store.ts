import type { ProviderName } from '#core/contracts/provider.ts';
import type { Sql } from '../postgres/mod.ts';
import type { SealedProviderKey } from './opener.ts';

/** Returns the stored keys of an organization; none if it does not exist. */
export function findSealedKeys(sql: Sql, organizationId: string): Promise<SealedProviderKey[]> {
  return sql<SealedProviderKey[]>`
    select provider, sealed from assay.provider_keys where organization_id = ${organizationId}`;
}

/** Returns the providers for which at least one organization has stored a key. */
export async function findStoredProviders(sql: Sql): Promise<ProviderName[]> {
  const rows = await sql<{ provider: ProviderName }[]>`select distinct provider from assay.provider_keys`;
  return rows.map(({ provider }) => provider);
}
