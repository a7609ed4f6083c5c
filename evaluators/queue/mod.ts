/** The table of evaluations as a queue: claimed, renewed, settled. */
export {
  type Claim,
  type ClaimOptions,
  claim,
  giveBack,
  LEASE_MS,
  MAX_BODY_BYTES,
  renew,
  shareOut,
} from './claim.ts';
export { type Fate, fateOf, GIVEN_UP, MAX_ATTEMPTS, PARKED, postponed, skipped } from './fate.ts';
export type { Job, JobRequest } from './jobs.ts';
export { settle } from './settle.ts';
