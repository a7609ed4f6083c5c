/** Sealing of a webhook's secrets, when it is created and when its secret is rotated. */
import { AssayError } from '#core/contracts/errors.ts';
import { type SecretBox, SecretsUnavailableError } from '#platform/secrets/mod.ts';
import { openWebhookSecrets, sealWebhookSecrets, type WebhookOwner } from '#platform/webhooks/mod.ts';

/** @throws AssayError invalid_body without a SECRET_KEY */
export function requireSealing(box: SecretBox): void {
  if (box.canSeal) return;
  throw new AssayError(
    'invalid_body',
    'Webhooks cannot be stored here, because their secrets cannot: SECRET_KEY is not set',
  );
}

/** Seals a new secret, with the previous one if both are to sign. A previous one that can no longer be opened is dropped. */
export function sealNext(
  box: SecretBox,
  owner: WebhookOwner,
  { secret, before, overlapSeconds }: { secret: string; before: Uint8Array; overlapSeconds: number },
): { sealed: Buffer; hasPrevious: boolean } {
  const previous = overlapSeconds === 0 ? null : openOrNull(box, owner, before);
  const secrets = previous === null ? { secret } : { secret, previous };
  return { sealed: sealWebhookSecrets(box, owner, secrets), hasPrevious: previous !== null };
}

function openOrNull(box: SecretBox, owner: WebhookOwner, sealed: Uint8Array): string | null {
  try {
    return openWebhookSecrets(box, owner, sealed).secret;
  } catch (error) {
    if (error instanceof SecretsUnavailableError) return null;
    throw error;
  }
}
