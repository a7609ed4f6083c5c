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
import { type Account, balance, createAccounts, decide, decideByShare, inHand, learn } from './account.ts';
import { createAdmission } from './admission.ts';
import { createAvailability } from './availability.ts';
import { createReservations } from './reservations.ts';
import { createSettlements } from './settlements.ts';
import { createLimitStore } from './store.ts';
import type { Decision, Limiter } from './types.ts';
import { createUpkeep } from './upkeep.ts';
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
  patienceMs?: number;
  /** How long a reservation is open: longer than a call takes. */
  openMs?: number;
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
  const { sql, clock, log, patienceMs = PATIENCE_MS, openMs = OPEN_MS, maxCounters = MAX_COUNTERS } = options;
  const { processId = randomUUID() } = options;
  const store = createLimitStore(sql, { maxCounters, openMs });
  const accounts = createAccounts();
  const upkeep = createUpkeep({
    clock,
    store,
    processId,
    gateways: options.gateways ?? 1,
    closeHolds: () => reservations.closeHolds(false),
  });
  const availability = createAvailability({
    clock,
    log,
    patienceMs,
    probe: upkeep.beat,
    onReturn: async () => {
      await settlements.flush();
      await upkeep.countMissed();
    },
  });
  const settlements = createSettlements({ clock, log, store, availability });
  const { gateways, onHolding } = upkeep;
  const { onDegraded = () => {} } = options;
  const takesAhead = processId !== null;
  const reservations = createReservations({
    clock,
    store,
    availability,
    settlements,
    gateways,
    takesAhead,
    patienceMs,
    onDegraded,
  });
  const admission = createAdmission({
    clock,
    store,
    availability,
    patienceMs,
    gateways,
    takesAhead,
    onHolding,
    onDegraded,
    countMissed: upkeep.countMissedOf,
  });
  upkeep.start(availability);

  function lookAt(account: Account): Decision {
    const now = clock.monotonic();
    const left = inHand(account, now);
    return decide(account, balance(account) + left > 0, left, now);
  }

  async function peekStored(account: Account): Promise<Decision> {
    const known = account.ledger.overdrawn - settlements.overdraft(account.charged);
    const answer = await availability.attempt(() => store.peek(account));
    const now = clock.monotonic();
    if (answer === undefined) return decideByShare(account, gateways(), now, 0);
    learn(account, answer, now, known);
    return lookAt(account);
  }

  function peek(account: Account): Decision | Promise<Decision> {
    const now = clock.monotonic();
    if (availability.isAway()) return decideByShare(account, gateways(), now, 0);
    if (now - account.view.at < FRESH_MS) return lookAt(account);
    return peekStored(account);
  }

  return {
    admit: (counter, policy) => admission.admit(accounts.of(counter, policy)),
    reserve: (counter, policy, estimateNano) =>
      reservations.reserve(accounts.of(counter, policy), estimateNano),
    peek: (counter, policy) => peek(accounts.of(counter, policy)),
    isAway: availability.isAway,
    unsettled: settlements.waiting,
    async stop(timeoutMs) {
      upkeep.stop();
      availability.stop();
      reservations.closeHolds(true);
      try {
        // 1. What calls cost, which nobody else knows. 2. Credit, which only waits for its sub-bucket to end otherwise.
        await within(timeoutMs, settlements.flush().then(upkeep.leave));
      } catch (error) {
        const unsettled = settlements.waiting();
        log.warn(
          { reason: describeError(error), unsettled },
          'the counters of rate limits were not told all',
        );
      }
    },
  };
}
