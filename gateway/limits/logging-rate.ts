/** How many of an organization's requests are logged: what its tier allows in any 5 seconds, over all processes. */
import { createLogLimit, type Limiter } from '#platform/limiter/mod.ts';
import type { Call } from '../request/call.ts';

export type LoggingRate = {
  /**
   * Finds out whether a call is logged. That may take until its provider has answered, so nothing waits for it but the
   * record; `call.isLogged` has it as soon as it is known.
   */
  watch(call: Call): void;
};

/** @param onUnlogged a call is served and not logged */
export function createLoggingRate(limiter: Limiter, onUnlogged: () => void): LoggingRate {
  const logs = createLogLimit(limiter);
  return {
    watch: (call) => {
      const { organizationId, logsPer5s } = call.caller;
      if (logsPer5s === null) return;
      const know = (isLogged: boolean) => {
        call.isLogged = isLogged;
        if (!isLogged) onUnlogged();
        return isLogged;
      };
      const decision = logs.admit(organizationId, logsPer5s);
      if (decision instanceof Promise) call.isLogged = decision.then(({ isAdmitted }) => know(isAdmitted));
      else know(decision.isAdmitted);
    },
  };
}
