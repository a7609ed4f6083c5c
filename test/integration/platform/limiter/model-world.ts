/** Gateways before a model of the counters, in a time of their own: a schedule decides what happens when. */
import { mock } from 'node:test';
import { type Account, createAccounts } from '#platform/limiter/account.ts';
import { createAvailability } from '#platform/limiter/availability.ts';
import { createReservations } from '#platform/limiter/reservations.ts';
import { createSettlements, type Settlements } from '#platform/limiter/settlements.ts';
import type { Counter, Policy, Reservation } from '#platform/limiter/types.ts';
import { createLogger } from '#platform/observability/log.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { ModelCounter } from './model-store.ts';

/** What becomes of a statement: when it is carried out and answered, and whether it gets so far. */
export type Fate = { thereMs: number; backMs: number; end: 'answered' | 'lost' | 'lost answer' };

/** A call that was admitted. Times are the world's. */
export type AdmittedCall = {
  askedMs: number;
  atMs: number;
  estimateNano: number;
  costNano: number;
  settledMs: number | null;
  isDegraded: boolean;
};
/** A call that was refused, by the store and not by a share. */
export type RefusedCall = { askedMs: number; atMs: number };

export type ModelGateway = {
  call(estimateNano: number, costNano: number | null, durationMs: number): void;
  /** As SIGKILL: what it has sent may still be carried out. */
  kill(): void;
  unsettled(): number;
};

export type ModelWorld = {
  admitted: AdmittedCall[];
  refused: RefusedCall[];
  now(): number;
  start(): ModelGateway;
  /** Lets time pass, in steps. */
  pass(ms: number, longestStepMs?: number): Promise<void>;
};

const log = createLogger({ role: 'test', level: 'silent' });
/** Time passes in steps of no more, and in so many at most: what is left passes at once. */
const LONGEST_STEP_MS = 20;
const STEPS = 25;
const TIDY_EVERY_MS = 250;

class LostError extends Error {
  readonly code = 'CONNECTION_CLOSED';
}

/** Timers are mocked from now on. */
export function modelWorld(
  counter: ModelCounter,
  limit: { counter: Counter; policy: Policy },
  { gateways, fate }: { gateways: number; fate(): Fate },
): ModelWorld {
  let now = 1_000_000;
  const clock: Clock = { now: () => now, monotonic: () => now };
  const admitted: AdmittedCall[] = [];
  const refused: RefusedCall[] = [];
  const tidying = new Set<() => void>();

  /** One statement; what a killed process has sent is carried out, and nobody hears of it. */
  function line(isAlive: () => boolean) {
    return <T>(work: () => T) =>
      new Promise<T>((resolve, reject) => {
        if (!isAlive()) return;
        const { thereMs, backMs, end } = fate();
        const later = (ms: number, then: () => void) => setTimeout(() => isAlive() && then(), ms);
        if (end === 'lost') {
          later(thereMs, () => reject(new LostError()));
          return;
        }
        setTimeout(() => {
          const result = work();
          later(backMs, () => (end === 'answered' ? resolve(result) : reject(new LostError())));
        }, thereMs);
      });
  }

  function start(): ModelGateway {
    let isAlive = true;
    const send = line(() => isAlive);
    const store = {
      reserve: (
        _: unknown,
        wish: Parameters<ModelCounter['reserve']>[0],
        told: Parameters<ModelCounter['settle']>[0] = [],
      ) => send(() => counter.reserve(wish, now, told)),
      reserveDegraded: (_: unknown, missed: Parameters<ModelCounter['reserveDegraded']>[0]) => {
        const sentMs = now;
        // A statement says how old a call was when it was sent.
        return send(() =>
          counter.reserveDegraded(
            missed.map((call) => ({ ...call, ageMs: call.ageMs + now - sentMs })),
            now,
          ),
        );
      },
      settle: (words: Parameters<ModelCounter['settle']>[0]) => send(() => counter.settle(words, now)),
    };
    const availability = createAvailability({
      clock,
      log,
      timeoutMs: 250,
      probe: () => send(() => null),
      onRecovery: () => settlements.flush(),
    });
    const settlements: Settlements = createSettlements({ clock, log, store, availability });
    const reservations = createReservations({
      clock,
      store,
      availability,
      settlements,
      gateways: () => gateways,
      prefetches: true,
      timeoutMs: 250,
      onDegraded: () => {},
    });
    const account: Account = createAccounts().of(limit.counter, limit.policy);
    const tidy = () => reservations.closeHolds(false);
    tidying.add(tidy);

    function note(reservation: Reservation, call: Omit<AdmittedCall, 'atMs' | 'settledMs' | 'isDegraded'>) {
      const { isAdmitted, isDegraded } = reservation;
      if (!isAdmitted) {
        if (!isDegraded) refused.push({ askedMs: call.askedMs, atMs: now });
        return null;
      }
      const noted: AdmittedCall = { ...call, atMs: now, settledMs: null, isDegraded };
      admitted.push(noted);
      return noted;
    }

    return {
      call(estimateNano, costNano, durationMs) {
        const asked = { askedMs: now, estimateNano, costNano: costNano ?? estimateNano };
        const reserved = reservations.reserve(account, estimateNano);
        const begin = (reservation: Reservation) => {
          if (!isAlive) return;
          const call = note(reservation, asked);
          if (call === null) return;
          setTimeout(() => {
            if (!isAlive) return;
            call.settledMs = now;
            reservation.settle(costNano);
            reservation.settle(7);
          }, durationMs);
        };
        if (reserved instanceof Promise) void reserved.then(begin);
        else begin(reserved);
      },
      kill() {
        isAlive = false;
        tidying.delete(tidy);
        availability.stop();
      },
      unsettled: settlements.unreportedCalls,
    };
  }

  async function step(ms: number): Promise<void> {
    const tidies = Math.floor((now + ms) / TIDY_EVERY_MS) > Math.floor(now / TIDY_EVERY_MS);
    now += ms;
    mock.timers.tick(ms);
    if (tidies) for (const tidy of tidying) tidy();
    // Everything that can happen now does.
    await new Promise(setImmediate);
  }

  return {
    admitted,
    refused,
    now: () => now,
    start,
    async pass(ms, longestStepMs = LONGEST_STEP_MS) {
      const until = now + ms;
      const stepMs = Math.min(longestStepMs, Math.max(1, Math.ceil(ms / 10)));
      for (let steps = 1; now < until; steps += 1) {
        await step(steps < STEPS ? Math.min(stepMs, until - now) : until - now);
      }
    },
  };
}
