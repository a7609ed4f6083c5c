/** What a limiter does in the background: gives back unused credit, tells what the store missed, says that it lives. */
import type { Clock } from '../process/clock.ts';
import type { Account } from './account.ts';
import type { Availability } from './availability.ts';
import type { CounterStore, UnusedCredits } from './counter-store.ts';
import { spendableCredits, toUnusedCredits } from './lease.ts';

export type Maintenance = {
  /** This account holds credit, owes some, or has admitted what the store does not know of. */
  track(account: Account): void;
  /** Gateways that live, as the store said last, or as many as are expected at least. */
  gateways(): number;
  /** Says that this process lives, and learns how many do. Rejects when the store is away. */
  heartbeat(): Promise<void>;
  /** Tells the store what was admitted while it was away. Rejects when it is. */
  reportDegraded(): Promise<void>;
  /** The same of one account. */
  reportDegradedOf(account: Account): Promise<void>;
  /** Gives back all credit, and leaves the gateways that live. Rejects when the store is away. */
  leave(): Promise<void>;
  stop(): void;
};

export type MaintenanceOptions = {
  clock: Clock;
  store: CounterStore;
  /** null: this process is no gateway. */
  processId: string | null;
  /** Gateways that are expected at least, before the store has told how many there are. */
  gateways: number;
  /** Closes the holds that are dead. */
  closeHolds(): void;
};

const TIDY_EVERY_MS = 250;
const BEAT_EVERY_MS = 2_000;
const SWEEP_EVERY_MS = 5_000;
const SWEPT_AT_ONCE = 1_000;
/** Who did not ask for so long does not need its credit, and others may. */
const IDLE_MS = 500;
/** Unspent grants in one statement. */
const RETURNED_AT_ONCE = 500;
/** Accounts at most that hold something: those beyond lose it, which leaves credit charged and admissions uncounted. */
const MAX_HOLDING = 50_000;
/** Counters that are told at a time what they missed. */
const COUNTED_AT_ONCE = 8;

/** Makes the upkeep; `start` begins it. */
export function createMaintenance(
  options: MaintenanceOptions,
): Maintenance & { start(availability: Availability): void } {
  const { clock, store, processId } = options;
  const holding = new Set<Account>();
  const timers: NodeJS.Timeout[] = [];
  let gateways = options.gateways;

  async function heartbeat(): Promise<void> {
    gateways = Math.max(options.gateways, await store.heartbeat(processId));
  }

  /** Takes out of the accounts what is theirs no more: dead credit, and that of who does not ask. */
  function collect(now: number, idleMs: number): UnusedCredits[] {
    const collected: UnusedCredits[] = [];
    for (const account of holding) {
      const { lease, counter } = account;
      const isIdle = now - account.lastCallAt >= idleMs;
      if (lease.credits > 0 && (isIdle || spendableCredits(lease, now) === 0)) {
        account.creditsToReturn.push(toUnusedCredits(counter.organizationId, lease));
        lease.credits = 0;
      }
      collected.push(...account.creditsToReturn.splice(0));
      if (lease.credits === 0 && account.unreported.size === 0) holding.delete(account);
      if (collected.length >= RETURNED_AT_ONCE) break;
    }
    return collected;
  }

  /** Once: whether a statement that failed was carried out is not known, and giving back twice would admit too many. */
  async function giveBack(idleMs: number): Promise<void> {
    for (;;) {
      const unspent = collect(clock.monotonic(), idleMs);
      if (unspent.length === 0) return;
      await store.returnCredits(unspent);
    }
  }

  async function reportDegraded(): Promise<void> {
    for (;;) {
      const missed = [...holding].filter(({ unreported }) => unreported.size > 0).slice(0, COUNTED_AT_ONCE);
      if (missed.length === 0) return;
      await Promise.all(missed.map(countOne));
    }
  }

  async function countOne(account: Account): Promise<void> {
    const { unreported, shape } = account;
    const buckets = [...unreported];
    unreported.clear();
    const now = clock.monotonic();
    const lastMs = (bucket: number) => Math.min(now, (bucket + 1) * shape.widthMs - 1);
    try {
      await store.countDegraded(
        account,
        buckets.map(([bucket, amount]) => ({ ageMs: Math.floor(now - lastMs(bucket)), amount })),
      );
    } catch (error) {
      for (const [bucket, amount] of buckets) unreported.set(bucket, amount + (unreported.get(bucket) ?? 0));
      throw error;
    }
  }

  async function sweep(): Promise<void> {
    while ((await store.deleteExpired(SWEPT_AT_ONCE)) >= SWEPT_AT_ONCE);
  }

  return {
    track(account) {
      holding.add(account);
      if (holding.size <= MAX_HOLDING) return;
      const [oldest] = holding;
      holding.delete(oldest!);
    },
    gateways: () => gateways,
    heartbeat,
    reportDegraded,
    reportDegradedOf: countOne,
    start(availability) {
      const tidy = async () => {
        options.closeHolds();
        // In this order: credit that is back may be granted again, beside what is not counted yet.
        await reportDegraded();
        await giveBack(IDLE_MS);
      };
      const every = (ms: number, work: () => Promise<void>) => {
        let isRunning = false;
        const run = async () => {
          if (isRunning || availability.isUnavailable()) return;
          isRunning = true;
          await work().catch(availability.reportFailure);
          isRunning = false;
        };
        timers.push(setInterval(run, ms).unref());
      };
      heartbeat().catch(availability.reportFailure);
      every(TIDY_EVERY_MS, tidy);
      every(BEAT_EVERY_MS, heartbeat);
      every(SWEEP_EVERY_MS, sweep);
    },
    async leave() {
      await reportDegraded();
      await giveBack(0);
      if (processId !== null) await store.unregister(processId);
    },
    stop() {
      for (const timer of timers) clearInterval(timer);
    },
  };
}
