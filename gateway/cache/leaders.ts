/**
 * Concurrent identical calls of one process: one leads, the others wait for its answer. When a leader comes back without
 * one, a follower leads in its place. When that fails too, two do, then four: a provider that is down, or refuses this
 * very body, makes nobody queue for its refusal.
 */
import type { StoredResponse } from './bucket.ts';

/** Either an answer, or the duty to get one. */
export type Turn =
  | { isLeader: false; answer: StoredResponse }
  | {
      isLeader: true;
      /** To be called at the end of the call, whatever became of it; null: no complete 2xx answer. */
      done(answer: StoredResponse | null): void;
    };

export type Flights = {
  /**
   * Resolves at once with the lead when nobody else has it; else when there is an answer, or the lead is handed on.
   * Rejects with the signal's reason when that says so first: who has left is handed nothing.
   */
  join(key: string, left?: AbortSignal): Promise<Turn>;
};

type Follower = { resolve(lead: Turn): void; timer: NodeJS.Timeout };
type Flight = {
  waiting: Set<Follower>;
  /** Under way. */
  leaders: number;
  /** How many lead next, when all of these have failed. */
  nextLeaders: number;
};

/** @param waitMs how long a follower waits before it makes its own call */
export function createFlights({ waitMs }: { waitMs: number }): Flights {
  const flights = new Map<string, Flight>();

  function land(key: string, flight: Flight): void {
    if (flights.get(key) === flight) flights.delete(key);
  }

  function takeOut(flight: Flight, follower: Follower): void {
    clearTimeout(follower.timer);
    flight.waiting.delete(follower);
  }

  function give(key: string, flight: Flight, answer: StoredResponse): void {
    land(key, flight);
    for (const follower of flight.waiting) {
      takeOut(flight, follower);
      follower.resolve({ isLeader: false, answer });
    }
  }

  function handOn(key: string, flight: Flight): void {
    const chosen = [...flight.waiting].slice(0, flight.nextLeaders);
    if (chosen.length === 0) land(key, flight);
    flight.leaders = chosen.length;
    flight.nextLeaders *= 2;
    for (const follower of chosen) {
      takeOut(flight, follower);
      follower.resolve(leadOf(key, flight));
    }
  }

  function leadOf(key: string, flight: Flight): Turn {
    let isDone = false;
    return {
      isLeader: true,
      done: (answer) => {
        if (isDone) return;
        isDone = true;
        flight.leaders -= 1;
        if (answer !== null) give(key, flight, answer);
        else if (flight.leaders === 0) handOn(key, flight);
      },
    };
  }

  /** One that has waited too long: it leads beside the others, and who comes later no longer waits for them. */
  function leadBeside(key: string, flight: Flight, follower: Follower): void {
    land(key, flight);
    takeOut(flight, follower);
    flight.leaders += 1;
    follower.resolve(leadOf(key, flight));
  }

  return {
    join: (key, left) => {
      const flight = flights.get(key);
      if (flight === undefined) {
        const own: Flight = { waiting: new Set(), leaders: 1, nextLeaders: 1 };
        flights.set(key, own);
        return Promise.resolve(leadOf(key, own));
      }
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => leadBeside(key, flight, follower), waitMs);
        const follower = { resolve, timer };
        flight.waiting.add(follower);
        const leave = () => {
          takeOut(flight, follower);
          reject(left?.reason);
        };
        left?.addEventListener('abort', leave, { once: true });
      });
    },
  };
}
