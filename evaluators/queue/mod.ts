/** The table of evaluations as a queue of leases: claim, renew, release, settle. */
export {
  claim,
  fairShares,
  LEASE_MS,
  MAX_BODY_BYTES,
  releaseLeases,
  renewLeases,
} from './claim.ts';
export type { Job, JobRequest } from './job.ts';
export { loadSessions } from './sessions.ts';
export { settle } from './settle.ts';
export { DEAD, MAX_ATTEMPTS, type NextState, nextState, PAUSED, postponed, skipped } from './transition.ts';
