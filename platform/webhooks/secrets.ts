/** The secrets that sign a webhook's messages: made, sealed for storage, and opened. */
import { randomBytes } from 'node:crypto';
import type { SecretBox, SecretOwner } from '../secrets/mod.ts';

/** The organization and the webhook of secrets: sealed secrets open for these two alone. */
export type WebhookOwner = { organizationId: string; webhookId: string };

/** The secret of a webhook, and the one before it while messages carry the signatures of both. */
export type WebhookSecrets = { secret: string; previous?: string };

/** Standard Webhooks asks for 24 to 64 bytes. */
const KEY_BYTES = 32;

/** Returns a new secret: `whsec_` and 32 random bytes as base64. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(KEY_BYTES).toString('base64')}`;
}

/** Evaluators' ids are UUIDs, so that a secret of theirs never opens as a webhook's, nor the reverse. */
function secretOwner({ organizationId, webhookId }: WebhookOwner): SecretOwner {
  return { organizationId, evaluatorId: `webhook:${webhookId}` };
}

/** @throws SecretsUnavailableError without SECRET_KEY */
export function sealWebhookSecrets(box: SecretBox, owner: WebhookOwner, secrets: WebhookSecrets): Buffer {
  return box.seal(secrets, secretOwner(owner));
}

/** @throws SecretsUnavailableError without the SECRET_KEY that sealed them, or when the bytes are another owner's */
export function openWebhookSecrets(box: SecretBox, owner: WebhookOwner, sealed: Uint8Array): WebhookSecrets {
  const { secret, previous } = box.open(sealed, secretOwner(owner));
  return { secret: secret!, ...(previous !== undefined && { previous }) };
}
