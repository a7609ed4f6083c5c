/** Gateways on a model of a counter, with simulated time and a simulated connection that delays and loses statements. */
import { mock } from 'node:test';
import { type Account, createAccounts } from '#platform/limiter/account.ts';
import { createCounterAvailability } from '#platform/limiter/availability.ts';
import { createReservations } from '#platform/limiter/reservations.ts';
import { createSettlements, type Settlements } from '#platform/limiter/settlements.ts';
import type { Counter, Policy, Reservation } from '#platform/limiter/types.ts';
import { createLogger } from '#platform/observability/log.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { ModelCounter } from './model-store.ts';

/** How the connection treats a statement: its delay to the store and back, and whether it or its response is lost. */
export type Delivery = { thereMs: number; backMs: number; end: 'answered' | 'lost' | 'response lost' };

/** An admitted call. Times are on the world's clock. */
export type AdmittedCall = {
  askedMs: number;
  atMs: number;
  estimateNano: number;
  costNano: number;
  settledMs: number | null;
  isDegraded: boolean;
};
/** A call that the counter refused (not a degraded gateway). */
export type RefusedCall = { askedMs: number; atMs: number };

export type ModelGateway = {
  call(estimateNano: number, costNano: number | null, durationMs: number): void;
  /** Stops it as SIGKILL does: statements it has sent may still be executed. */
  kill(): void;
  unsettled(): number;
};

export type ModelWorld = {
  admitted: AdmittedCall[];
  refused: RefusedCall[];
  now(): number;
  start(): ModelGateway;
  /** Advances time, in steps. */
  pass(ms: number, longestStepMs?: number): Promise<void>;
};

const log = createLogger({ role: 'test', level: 'silent' });
/** Time advances in steps of at most this, and in at most `STEPS` of them: the rest passes at once. */
const LONGEST_STEP_MS = 20;
const STEPS = 25;
const TIDY_EVERY_MS = 250;

class LostError extends Error {
  readonly code = 'CONNECTION_CLOSED';
}

/** Creates a world. The test must have mocked timers. */
export function modelWorld(
  counter: ModelCounter,
  limit: { counter: Counter; policy: Policy },
  { gateways, deliver }: { gateways: number; deliver(): Delivery },
): ModelWorld {
  let now = 1_000_000;
  const clock: Clock = { now: () => now, monotonic: () => now };
  const admitted: AdmittedCall[] = [];
  const refused: RefusedCall[] = [];
  const tidyings = new Set<() => void>();

  /** Makes a connection. A statement of a killed process is executed, and its response ignored. */
  function connect(isAlive: () => boolean) {
    return <T>(work: () => T) =>
      new Promise<T>((resolve, reject) => {
        if (!isAlive()) return;
        const { thereMs, backMs, end } = deliver();
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
    const send = connect(() => isAlive);
    const store = {
      reserve: (
        _: unknown,
        request: Parameters<ModelCounter['reserve']>[0],
        settlements: Parameters<ModelCounter['settle']>[0] = [],
      ) => send(() => counter.reserve(request, now, settlements)),
      reserveDegraded: (_: unknown, calls: Parameters<ModelCounter['reserveDegraded']>[0]) => {
        const sentMs = now;
        // A statement carries the age of a call at the time of sending.
        return send(() =>
          counter.reserveDegraded(
            calls.map((call) => ({ ...call, ageMs: call.ageMs + now - sentMs })),
            now,
          ),
        );
      },
      settle: (settlements: Parameters<ModelCounter['settle']>[0]) =>
        send(() => counter.settle(settlements, now)),
    };
    const availability = createCounterAvailability({
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
    tidyings.add(tidy);

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
        const made = { askedMs: now, estimateNano, costNano: costNano ?? estimateNano };
        const reserved = reservations.reserve(account, estimateNano);
        const begin = (reservation: Reservation) => {
          if (!isAlive) return;
          const call = note(reservation, made);
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
        tidyings.delete(tidy);
        availability.stop();
      },
      unsettled: settlements.unreportedCalls,
    };
  }

  async function step(ms: number): Promise<void> {
    const isTidying = Math.floor((now + ms) / TIDY_EVERY_MS) > Math.floor(now / TIDY_EVERY_MS);
    now += ms;
    mock.timers.tick(ms);
    if (isTidying) for (const tidy of tidyings) tidy();
    // Lets everything happen that can happen now.
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
