/**
 * The limits of a process, together with those of all others on the same database: in no interval of a window do all
 * of them admit more than the quota. While the database is away each goes by its own share, says so, and what it
 * admitted is counted when the database is back.
 */
import { randomUUID } from 'node:crypto';
import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '../observability/log.ts';
import type { Sql } from '../postgres/mod.ts';
import type { Clock } from '../process/clock.ts';
import {
  type Account,
  applySnapshot,
  createAccounts,
  decide,
  decideDegraded,
  localBalance,
  sharedBalance,
} from './account.ts';
import { createAdmission } from './admission.ts';
import { createAvailability } from './availability.ts';
import { createCounterStore } from './counter-store.ts';
import { createMaintenance } from './maintenance.ts';
import { createReservations } from './reservations.ts';
import { createSettlements } from './settlements.ts';
import type { Decision, Limiter } from './types.ts';
import { within } from './within.ts';

export type LimiterOptions = {
  /** A pool of its own, so that nothing else keeps a decision waiting; some connections are enough. */
  sql: Sql;
  clock: Clock;
  log: Logger;
  /**
   * Tells this process from the other gateways; made up when not given. null: it is none, so that it takes no share from
   * them and nothing ahead of need; without the store it admits by the share of one.
   */
  processId?: string | null;
  /** Gateways that are expected at least: how a quota is shared before the store has said how many there are. */
  gateways?: number;
  /** How long a call waits for the store. */
  storeTimeoutMs?: number;
  /** How long a reservation is open: longer than a call takes. */
  reservationTtlMs?: number;
  /** Counters of segments' values in an organization; those beyond are counted together, by API key and unit. */
  maxCounters?: number;
  /** A decision was made by this process's share, because the store was away. */
  onDegraded?(): void;
};

const PATIENCE_MS = 250;
const OPEN_MS = 3_600_000;
const MAX_COUNTERS = 100_000;
/** For how long the store's last word is good enough for who only looks. */
const FRESH_MS = 1_000;

/** Makes the limiter of this process; its heartbeat begins at once. */
export function createLimiter(options: LimiterOptions): Limiter {
  const {
    sql,
    clock,
    log,
    storeTimeoutMs = PATIENCE_MS,
    reservationTtlMs = OPEN_MS,
    maxCounters = MAX_COUNTERS,
  } = options;
  const { processId = randomUUID() } = options;
  const store = createCounterStore(sql, { maxCounters, reservationTtlMs });
  const accounts = createAccounts();
  const upkeep = createMaintenance({
    clock,
    store,
    processId,
    gateways: options.gateways ?? 1,
    closeHolds: () => reservations.closeHolds(false),
  });
  const availability = createAvailability({
    clock,
    log,
    timeoutMs: storeTimeoutMs,
    probe: upkeep.heartbeat,
    onRecovery: async () => {
      await settlements.flush();
      await upkeep.reportDegraded();
    },
  });
  const settlements = createSettlements({ clock, log, store, availability });
  const { gateways, track } = upkeep;
  const { onDegraded = () => {} } = options;
  const prefetches = processId !== null;
  const reservations = createReservations({
    clock,
    store,
    availability,
    settlements,
    gateways,
    prefetches,
    timeoutMs: storeTimeoutMs,
    onDegraded,
  });
  const admission = createAdmission({
    clock,
    store,
    availability,
    timeoutMs: storeTimeoutMs,
    gateways,
    prefetches: prefetches,
    track,
    onDegraded,
    reportDegraded: upkeep.reportDegradedOf,
  });
  upkeep.start(availability);

  function lookAt(account: Account): Decision {
    const now = clock.monotonic();
    const left = localBalance(account, now);
    return decide(account, sharedBalance(account) + left > 0, left, now);
  }

  async function peekStored(account: Account): Promise<Decision> {
    const known = account.ledger.overdrawnNano - settlements.overdraftNano(account.chargedCounter);
    const answer = await availability.run(() => store.peek(account));
    const now = clock.monotonic();
    if (answer === undefined) return decideDegraded(account, gateways(), now, 0);
    applySnapshot(account, answer, now, known);
    return lookAt(account);
  }

  function peek(account: Account): Decision | Promise<Decision> {
    const now = clock.monotonic();
    if (availability.isUnavailable()) return decideDegraded(account, gateways(), now, 0);
    if (now - account.lastSnapshot.takenAt < FRESH_MS) return lookAt(account);
    return peekStored(account);
  }

  return {
    admit: (counter, policy) => admission.admit(accounts.of(counter, policy)),
    reserve: (counter, policy, estimateNano) =>
      reservations.reserve(accounts.of(counter, policy), estimateNano),
    peek: (counter, policy) => peek(accounts.of(counter, policy)),
    isDegraded: availability.isUnavailable,
    unreportedCalls: settlements.unreportedCalls,
    async stop(timeoutMs) {
      upkeep.stop();
      availability.stop();
      reservations.closeHolds(true);
      try {
        // 1. What calls cost, which nobody else knows. 2. Credit, which only waits for its sub-bucket to end otherwise.
        await within(timeoutMs, settlements.flush().then(upkeep.leave));
      } catch (error) {
        const unsettled = settlements.unreportedCalls();
        log.warn(
          { reason: describeError(error), unsettled },
          'the counters of rate limits were not told all',
        );
      }
    },
  };
}
