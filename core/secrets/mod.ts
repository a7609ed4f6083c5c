/** Secrets that users give: sealed at rest, and masked wherever text leaves the service. */
export { maskSecrets } from './mask.ts';
export { createSecretBox, type SecretBox, type SecretOwner, SecretsUnavailableError } from './secret-box.ts';
