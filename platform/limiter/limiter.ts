/**
 * The limiter of a process. Together with those of all other processes on the same database it admits no more than the
 * quota in any interval of a window. mod.ts explains the design.
 */
import { randomUUID } from 'node:crypto';
import { describeError } from '#core/contracts/errors.ts';
import type { Logger } from '../observability/log.ts';
import type { Sql } from '../postgres/mod.ts';
import { answeredWithin } from '../postgres/mod.ts';
import type { Clock } from '../process/clock.ts';
import { type Accounts, createAccounts } from './account.ts';
import { createAdmission } from './admission.ts';
import { createCounterAvailability } from './availability.ts';
import { createAdmissionByBoth } from './both.ts';
import { createCounterStore } from './counter-store.ts';
import { createMaintenance } from './maintenance.ts';
import { createPeek } from './peek.ts';
import { createReservations } from './reservations.ts';
import { createSettlements } from './settlements.ts';
import type { Limiter } from './types.ts';

export type LimiterOptions = {
  /** A pool of its own, so that no other work delays a decision; a few connections are enough. */
  sql: Sql;
  clock: Clock;
  log: Logger;
  /**
   * Identifies this process among the gateways; a random one by default. null: this process is not a gateway. It takes no
   * share of a quota from the gateways and prefetches nothing; while degraded it admits by the share of one gateway.
   */
  processId?: string | null;
  /** Number of gateways to expect at least, by which a quota is shared before the store has reported their number. */
  gateways?: number;
  /** Longest wait of a call for the store. */
  storeTimeoutMs?: number;
  /** Time for which a reservation is reported as open: longer than a call takes. */
  reservationTtlMs?: number;
  /** Counters of segments' values in an organization; those beyond are counted together, by API key and unit. */
  maxCounters?: number;
  /** Called when a decision was made by this process's share of the quota, because the store was unavailable. */
  onDegraded?(): void;
};

const DEFAULT_STORE_TIMEOUT_MS = 250;
const DEFAULT_RESERVATION_TTL_MS = 3_600_000;
const DEFAULT_MAX_COUNTERS = 100_000;

/** Creates the limiter of this process and starts its heartbeat. */
export function createLimiter(options: LimiterOptions): Limiter {
  const {
    sql,
    clock,
    log,
    processId = randomUUID(),
    gateways: expectedGateways = 1,
    storeTimeoutMs: timeoutMs = DEFAULT_STORE_TIMEOUT_MS,
    reservationTtlMs = DEFAULT_RESERVATION_TTL_MS,
    maxCounters = DEFAULT_MAX_COUNTERS,
    onDegraded = () => {},
  } = options;
  const store = createCounterStore(sql, { maxCounters, reservationTtlMs });
  const known = createAccounts();
  const accounts: Accounts = {
    of: (counter, policy) => {
      maintenance.noteUse();
      return known.of(counter, policy);
    },
  };
  const maintenance = createMaintenance({
    clock,
    store,
    processId,
    gateways: expectedGateways,
    closeHolds: () => reservations.closeHolds(false),
  });
  const { gateways, track, reportDegradedOf: reportDegraded } = maintenance;
  const availability = createCounterAvailability({
    clock,
    log,
    timeoutMs,
    probe: maintenance.heartbeat,
    onRecovery: async () => {
      await settlements.flush();
      await maintenance.reportDegraded();
    },
  });
  const settlements = createSettlements({ clock, log, store, availability });
  const prefetches = processId !== null;
  const shared = { clock, store, availability, gateways, prefetches, timeoutMs, onDegraded };
  const reservations = createReservations({ ...shared, settlements });
  const admission = createAdmission({ ...shared, track, reportDegraded });
  const peek = createPeek({ ...shared, settlements });
  maintenance.start(availability);

  /** Gives back what only this process knows: settlements first, then credits, which would stay charged for a window. */
  async function leave(): Promise<void> {
    // A refill under way would be charged after everything was given back.
    await Promise.all([admission.end(), reservations.end()]);
    reservations.closeHolds(true);
    await settlements.flush();
    await maintenance.leave();
  }

  const both = createAdmissionByBoth({ accounts, admission, reservations, peek });

  return {
    admit: (counter, policy) => admission.admit(accounts.of(counter, policy)),
    reserve: (counter, policy, estimateNano) =>
      reservations.reserve(accounts.of(counter, policy), estimateNano),
    admitByBoth: both.admit,
    peekBoth: both.peek,
    peek: (counter, policy) => peek(accounts.of(counter, policy)),
    isDegraded: availability.isUnavailable,
    unreportedCalls: settlements.unreportedCalls,
    async stop(timeoutMs) {
      maintenance.stop();
      availability.stop();
      try {
        await answeredWithin(timeoutMs, leave());
      } catch (error) {
        const unsettled = settlements.unreportedCalls();
        log.warn(
          { reason: describeError(error), unsettled },
          'limiter stopped before all settlements reached the rate-limit counters',
        );
      }
    },
  };
}
