/** Secrets that users give: sealed at rest, and masked wherever text leaves the service. */

export {
  EVALUATION_PROPERTY,
  type ExperimentCall,
  INTERNAL_HEADER,
  type InternalCall,
  readExperimentCall,
  readInternalCall,
  readInternalSecret,
  readKeyCall,
  signExperimentCall,
  signInternalCall,
  signKeyCall,
} from './internal-call.ts';
export { maskSecrets } from './mask.ts';
export { createSecretBox, type SecretBox, type SecretOwner, SecretsUnavailableError } from './secret-box.ts';
