/** API keys and the organizations they belong to. */
export { SCOPES, type Scope } from '#core/keys/mod.ts';
export { type ApiKey, hashApiKey, LOGS_PER_5S, TIERS, type Tier } from './api-key.ts';
export { createKeyDirectory, type KeyDirectory } from './directory.ts';
export {
  createOrganization,
  findOrganization,
  listOrganizations,
  type Organization,
  requireOrganization,
  setEvaluationBudget,
  setTier,
} from './organizations.ts';
export { requirePath } from './require-path.ts';
export { reserveRequestId } from './reserve-request-id.ts';
export { rotateKey } from './rotate.ts';
export {
  createKey,
  findKeyByIdOrPrefix,
  type KeyRecord,
  keyColumns,
  keyTables,
  listKeys,
  listOrNull,
  revokeKey,
} from './store.ts';
