/** The table of evaluations as a queue of leases: claim, renew, release, settle. */
export { claim, fairShares } from './claim.ts';
export type { Job, JobRequest } from './job.ts';
export { LEASE_MS, releaseLeases, renewLeases } from './leases.ts';
export { MAX_BODY_BYTES } from './load-jobs.ts';
export { recordsAt } from './records.ts';
export { loadSessions } from './sessions.ts';
export { settle } from './settle.ts';
export {
  DEAD,
  failed,
  MAX_ATTEMPTS,
  type NextState,
  nextState,
  PAUSED,
  postponed,
  skipped,
} from './transition.ts';
