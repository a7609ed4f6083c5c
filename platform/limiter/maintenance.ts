/** Background work of a limiter: returns unused credits, reports degraded admissions, sends the heartbeat. */
import type { Clock } from '../process/clock.ts';
import type { Account } from './account.ts';
import type { CounterAvailability } from './availability.ts';
import type { CounterStore, UnusedCredits } from './counter-store.ts';
import { spendableCredits, toUnusedCredits } from './lease.ts';
import { createPacedWorks, type Pace } from './paced-works.ts';

type Maintenance = {
  /** Notes that the limiter is used, which ends a rest. Called for each decision. */
  noteUse(): void;
  /** Watches an account that has credits, or something to return or to report. */
  track(account: Account): void;
  /** Returns the number of live gateways at the last heartbeat, and at least the expected number. */
  gateways(): number;
  /** Registers this process as alive, and learns the number of live gateways. Rejects while the store is unavailable. */
  heartbeat(): Promise<void>;
  /** Reports all calls that were admitted while degraded. Rejects while the store is unavailable. */
  reportDegraded(): Promise<void>;
  /** Reports the calls of one account that were admitted while degraded. */
  reportDegradedOf(account: Account): Promise<void>;
  /** Returns all credits, and unregisters this process. Rejects while the store is unavailable. */
  leave(): Promise<void>;
  stop(): void;
};

type MaintenanceOptions = {
  clock: Clock;
  store: CounterStore;
  /** null: this process is not a gateway. */
  processId: string | null;
  /** Number of gateways to expect before the first heartbeat, and at least. */
  gateways: number;
  /** Closes the holds that have expired. */
  closeHolds(): void;
};

const TIDY: Pace = { usedMs: 250, restingMs: null };
/** A gateway counts as gone after ten seconds of silence. */
const HEARTBEAT: Pace = { usedMs: 2_000, restingMs: 5_000 };
/** A process that is no gateway only reads their number. */
const COUNTING: Pace = { usedMs: 2_000, restingMs: null };
const DELETE_EXPIRED: Pace = { usedMs: 5_000, restingMs: 60_000 };
/** Rounds of tidying without a use, after which the limiter rests: by then each hold has expired. */
const UNUSED_ROUNDS = 20;
const DELETED_AT_ONCE = 1_000;
/** An account without calls for this long returns its credits, which other gateways may need. */
const IDLE_MS = 500;
/** Leases returned in one statement. */
const RETURNED_AT_ONCE = 500;
/**
 * Maximum of tracked accounts. Those beyond are forgotten, the oldest first: their credits stay charged, and what they
 * admitted while degraded is never counted.
 */
const MAX_TRACKED = 50_000;
/** Accounts reported at the same time. */
const REPORTED_AT_ONCE = 8;

/** Creates the maintenance; `start` begins it. */
export function createMaintenance(
  options: MaintenanceOptions,
): Maintenance & { start(availability: Pick<CounterAvailability, 'isUnavailable' | 'reportFailure'>): void } {
  const { clock, store, processId } = options;
  const tracked = new Set<Account>();
  // The number of gateways may have changed during a rest.
  const works = createPacedWorks({ unusedRounds: UNUSED_ROUNDS, onAwake: () => beat() });
  let gateways = options.gateways;
  let beat = (): void => {};

  async function heartbeat(): Promise<void> {
    gateways = Math.max(options.gateways, await store.heartbeat(processId));
  }

  /** Takes dead credits, and those of idle accounts, out of the accounts. */
  function collectUnused(now: number, idleMs: number): UnusedCredits[] {
    const unused: UnusedCredits[] = [];
    for (const account of tracked) {
      const { lease, counter } = account;
      const isIdle = now - account.lastCallAt >= idleMs;
      if (lease.credits > 0 && (isIdle || spendableCredits(lease, now) === 0)) {
        account.creditsToReturn.push(toUnusedCredits(counter.organizationId, lease));
        lease.credits = 0;
      }
      unused.push(...account.creditsToReturn.splice(0));
      if (lease.credits === 0 && account.unreported.size === 0) tracked.delete(account);
      if (unused.length >= RETURNED_AT_ONCE) break;
    }
    return unused;
  }

  /** Never retries: a failed statement may have been executed, and returning credits twice would admit too many calls. */
  async function returnUnused(idleMs: number): Promise<void> {
    for (;;) {
      const unused = collectUnused(clock.monotonic(), idleMs);
      if (unused.length === 0) return;
      await store.returnCredits(unused);
    }
  }

  async function reportDegraded(): Promise<void> {
    for (;;) {
      const accounts = [...tracked].filter(({ unreported }) => unreported.size > 0);
      if (accounts.length === 0) return;
      await Promise.all(accounts.slice(0, REPORTED_AT_ONCE).map(reportDegradedOf));
    }
  }

  async function reportDegradedOf(account: Account): Promise<void> {
    const { unreported, shape } = account;
    const subBuckets = [...unreported];
    unreported.clear();
    const now = clock.monotonic();
    const lastMs = (subBucket: number) => Math.min(now, (subBucket + 1) * shape.widthMs - 1);
    try {
      await store.countDegraded(
        account,
        subBuckets.map(([subBucket, amount]) => ({ ageMs: Math.floor(now - lastMs(subBucket)), amount })),
      );
    } catch (error) {
      for (const [subBucket, amount] of subBuckets) {
        unreported.set(subBucket, amount + (unreported.get(subBucket) ?? 0));
      }
      throw error;
    }
  }

  async function deleteExpired(): Promise<void> {
    while ((await store.deleteExpired(DELETED_AT_ONCE)) >= DELETED_AT_ONCE);
  }

  return {
    noteUse: works.noteUse,
    track(account) {
      works.noteUse();
      tracked.add(account);
      if (tracked.size <= MAX_TRACKED) return;
      const [oldest] = tracked;
      tracked.delete(oldest!);
    },
    gateways: () => gateways,
    heartbeat,
    reportDegraded,
    reportDegradedOf,
    start(availability) {
      const tidy = async () => {
        options.closeHolds();
        // In this order: returned credits may be granted again, on top of admissions that are not counted yet.
        await reportDegraded();
        await returnUnused(IDLE_MS);
        works.noteRound(tracked.size === 0);
      };
      const every = (pace: Pace, work: () => Promise<void>) =>
        works.repeat(pace, async () => {
          if (!availability.isUnavailable()) await work().catch(availability.reportFailure);
        });
      every(TIDY, tidy);
      const beatNow = every(processId === null ? COUNTING : HEARTBEAT, heartbeat);
      every(DELETE_EXPIRED, deleteExpired);
      beat = () => void beatNow();
      beat();
    },
    async leave() {
      await reportDegraded();
      await returnUnused(0);
      if (processId !== null) await store.unregister(processId);
    },
    stop() {
      beat = () => {};
      works.stop();
    },
  };
}
