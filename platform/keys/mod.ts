/** API keys and the organizations they belong to. */
export {
  type ApiKey,
  generateApiKey,
  hashApiKey,
  LOGS_PER_5S,
  SCOPES,
  type Scope,
  TIERS,
  type Tier,
} from './api-key.ts';
export { claimRequestId } from './claim-request-id.ts';
export { createKeyDirectory, type KeyDirectory, type KeyDirectoryOptions } from './directory.ts';
export {
  createKey,
  createOrganization,
  findOrganization,
  type KeyRecord,
  listKeys,
  listOrganizations,
  type Organization,
  revokeKey,
  setEvaluationBudget,
  setTier,
} from './store.ts';
