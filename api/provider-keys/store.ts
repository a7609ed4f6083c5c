/** The table of provider keys, one organization's rows at a time: `tx` is of the role `assay_api`. */
import type { TransactionSql } from '#platform/postgres/mod.ts';

export type ProviderKeyRow = {
  provider: string;
  sealed: Buffer;
  created_at: Date;
  updated_at: Date;
};

/** Lists keys by the providers' names; only the one of `provider` when it is given. */
export function selectProviderKeys(
  tx: TransactionSql,
  organizationId: string,
  provider: string | null = null,
): Promise<ProviderKeyRow[]> {
  return tx<ProviderKeyRow[]>`
    select provider, sealed, created_at, updated_at from assay.provider_keys
    where organization_id = ${organizationId} and (${provider}::text is null or provider = ${provider})
    order by provider`;
}

/** Stores a key, and replaces the former one, whose `created_at` stays. */
export async function upsertProviderKey(
  tx: TransactionSql,
  {
    organizationId,
    provider,
    sealed,
    at,
  }: { organizationId: string; provider: string; sealed: Buffer; at: Date },
): Promise<ProviderKeyRow> {
  const [row] = await tx<ProviderKeyRow[]>`
    insert into assay.provider_keys (organization_id, provider, sealed, created_at, updated_at)
    values (${organizationId}, ${provider}, ${sealed}, ${at}, ${at})
    on conflict (organization_id, provider) do update set sealed = excluded.sealed, updated_at = excluded.updated_at
    returning provider, sealed, created_at, updated_at`;
  return row!;
}

/** Removes a key; returns whether there was one. */
export async function deleteProviderKey(
  tx: TransactionSql,
  organizationId: string,
  provider: string,
): Promise<boolean> {
  const deleted = await tx`
    delete from assay.provider_keys where organization_id = ${organizationId} and provider = ${provider}
    returning 1`;
  return deleted.length === 1;
}
