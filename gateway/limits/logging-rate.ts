/** Limits how many of an organization's requests are logged in any 5 seconds, over all processes, as its tier allows. */
import { createLogLimit, type Limiter } from '#platform/limiter/mod.ts';
import type { Caller } from '../request/call.ts';

/** The decision whether a call is logged. */
export type LoggingDecision = {
  /** Null: not known yet. */
  readonly atOnce: boolean | null;
  /** Resolves with the decision. Never rejects. */
  readonly settled: Promise<boolean>;
};

export type LoggingRate = {
  /**
   * Decides whether a call is logged. The decision may take until the provider has responded, so that only the record and
   * the headers of a stream wait for it.
   */
  decide(caller: Pick<Caller, 'organizationId' | 'logsPer5s'>): LoggingDecision;
};

/** @internal Exported for tests of single steps of a call. */
export const LOGGED: LoggingDecision = { atOnce: true, settled: Promise.resolve(true) };
const UNLOGGED: LoggingDecision = { atOnce: false, settled: Promise.resolve(false) };

/** Makes the decisions. @param onUnlogged called for each call that is served and not logged */
export function createLoggingRate(limiter: Limiter, onUnlogged: () => void): LoggingRate {
  const logs = createLogLimit(limiter);
  const counted = (isLogged: boolean): boolean => {
    if (!isLogged) onUnlogged();
    return isLogged;
  };
  return {
    decide: ({ organizationId, logsPer5s }) => {
      if (logsPer5s === null) return LOGGED;
      const decision = logs.admit(organizationId, logsPer5s);
      if (!(decision instanceof Promise)) return counted(decision.isAdmitted) ? LOGGED : UNLOGGED;
      return { atOnce: null, settled: decision.then(({ isAdmitted }) => counted(isAdmitted)) };
    },
  };
}
