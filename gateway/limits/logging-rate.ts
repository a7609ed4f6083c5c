/** How many of an organization's requests are logged: what its tier allows in any 5 seconds, over all processes. */
import { createLogLimit, type Limiter } from '#platform/limiter/mod.ts';
import type { Caller } from '../request/call.ts';

/** Whether a call is logged. */
export type LoggingDecision = {
  /** Null: the counters are still asked. */
  readonly atOnce: boolean | null;
  /** The same, once it is known. Never rejects. */
  readonly settled: Promise<boolean>;
};

export type LoggingRate = {
  /**
   * Decides whether a call is logged. That may take until its provider has responded, so nothing waits for it but the
   * record and the headers of a stream.
   */
  decide(caller: Pick<Caller, 'organizationId' | 'logsPer5s'>): LoggingDecision;
};

/** @internal Exported for tests of single steps of a call. */
export const LOGGED: LoggingDecision = { atOnce: true, settled: Promise.resolve(true) };
const UNLOGGED: LoggingDecision = { atOnce: false, settled: Promise.resolve(false) };

/** @param onUnlogged called for each call that is served and not logged */
export function createLoggingRate(limiter: Limiter, onUnlogged: () => void): LoggingRate {
  const logs = createLogLimit(limiter);
  const noted = (isLogged: boolean): boolean => {
    if (!isLogged) onUnlogged();
    return isLogged;
  };
  return {
    decide: ({ organizationId, logsPer5s }) => {
      if (logsPer5s === null) return LOGGED;
      const decision = logs.admit(organizationId, logsPer5s);
      if (!(decision instanceof Promise)) return noted(decision.isAdmitted) ? LOGGED : UNLOGGED;
      return { atOnce: null, settled: decision.then(({ isAdmitted }) => noted(isAdmitted)) };
    },
  };
}
