import type { SecretBox, SecretOwner } from '../secrets/mod.ts';

/** Whose key it is, and for which provider: a sealed key opens for these two alone. */
export type ProviderKeyOwner = { organizationId: string; provider: string };

/** Evaluators have ids that are UUIDs: nothing that is sealed for one of them opens as a provider's key, nor the reverse. */
function secretOwner({ organizationId, provider }: ProviderKeyOwner): SecretOwner {
  return { organizationId, evaluatorId: `provider:${provider}` };
}

/**
 * A provider's key as it is stored.
 * @throws SecretsUnavailableError without SECRET_KEY
 */
export function sealProviderKey(secrets: SecretBox, owner: ProviderKeyOwner, key: string): Buffer {
  return secrets.seal({ key }, secretOwner(owner));
}

/**
 * The key that was sealed for this owner.
 * @throws SecretsUnavailableError without the SECRET_KEY that sealed it, or when it was changed, or is another owner's
 */
export function openProviderKey(secrets: SecretBox, owner: ProviderKeyOwner, sealed: Uint8Array): string {
  return secrets.open(sealed, secretOwner(owner)).key!;
}
