import type { SecretBox, SecretOwner } from '../secrets/mod.ts';

/** The organization and provider of a key: a sealed key opens for these two alone. */
export type ProviderKeyOwner = { organizationId: string; provider: string };

/**
 * Returns the owner to seal for. Evaluators' ids are UUIDs, so a secret of theirs never opens as a provider key, nor the
 * reverse.
 */
function secretOwner({ organizationId, provider }: ProviderKeyOwner): SecretOwner {
  return { organizationId, evaluatorId: `provider:${provider}` };
}

/**
 * Seals a provider key for storage.
 * @throws SecretsUnavailableError without SECRET_KEY
 */
export function sealProviderKey(secrets: SecretBox, owner: ProviderKeyOwner, key: string): Buffer {
  return secrets.seal({ key }, secretOwner(owner));
}

/**
 * Opens the key that was sealed for this owner.
 * @throws SecretsUnavailableError without the SECRET_KEY that sealed it, or when the bytes were changed or are another
 *   owner's
 */
export function openProviderKey(secrets: SecretBox, owner: ProviderKeyOwner, sealed: Uint8Array): string {
  return secrets.open(sealed, secretOwner(owner)).key!;
}
