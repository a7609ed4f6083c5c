/** API keys and the organizations they belong to. */
export { type ApiKey, hashApiKey, LOGS_PER_5S, SCOPES, type Scope, TIERS, type Tier } from './api-key.ts';
export { createKeyDirectory, type KeyDirectory } from './directory.ts';
export {
  createKey,
  createOrganization,
  findOrganization,
  listKeys,
  listOrganizations,
  type Organization,
  reserveRequestId,
  revokeKey,
  setEvaluationBudget,
  setTier,
} from './store.ts';
