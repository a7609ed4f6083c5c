/** Secrets that users give: sealed at rest, and masked wherever text leaves the service. */

export {
  EVALUATION_PROPERTY,
  INTERNAL_HEADER,
  type InternalCall,
  readInternalCall,
  readInternalSecret,
  readKeyCall,
  signInternalCall,
  signKeyCall,
} from './internal-call.ts';
export { maskSecrets } from './mask.ts';
export { createSecretBox, type SecretBox, type SecretOwner, SecretsUnavailableError } from './secret-box.ts';
