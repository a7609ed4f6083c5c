/** The providers and models that an organization's calls can use, as the running gateways report them. */
import { PROVIDER_NAMES, type ProviderName } from '#core/contracts/provider.ts';
import { inOrganization, type Sql } from '#platform/postgres/mod.ts';
import { type GatewayFacts, readFacts } from '#platform/processes/mod.ts';

/** Facts that decide which models can be called. */
export type Usable = {
  /** The configurations of running gateways: one, except for the minutes of a change. */
  facts: GatewayFacts[];
  /** The providers that the organization has stored a key for. */
  ownProviders: ReadonlySet<ProviderName>;
};

/** @param sql a pool under the role `assay_api` */
export async function readUsable(sql: Sql, organizationId: string): Promise<Usable> {
  const { facts, stored } = await inOrganization(sql, organizationId, async (tx) => ({
    facts: await readFacts(tx, 'gateway'),
    stored: await tx<{ provider: ProviderName }[]>`
      select provider from assay.provider_keys where organization_id = ${organizationId}`,
  }));
  return { facts, ownProviders: new Set(stored.map(({ provider }) => provider)) };
}

/** Returns the providers that a gateway can call for an organization: those with an address and a key. */
export function usableProviders(
  { providers }: GatewayFacts,
  ownProviders: ReadonlySet<ProviderName>,
): ProviderName[] {
  return PROVIDER_NAMES.filter((name) => {
    const facts = providers[name];
    return facts !== undefined && (facts.isOpen || ownProviders.has(name));
  });
}
