import type { GatewayState, TrippedState } from '#core/contracts/process-state.ts';
import { type BreakerState, providerOf } from './circuit-breaker.ts';

/** The states of addresses that are failing, for the report of this process. */
export type BreakerStates = {
  /** Notes the state of an address. */
  note(address: string, state: BreakerState): void;
  /** Returns the providers with an address whose circuit is not closed, each with its worst state. */
  tripped(): GatewayState['breakers'];
};

/** Creates them, all closed at first. */
export function createBreakerStates(): BreakerStates {
  const states = new Map<string, TrippedState>();
  return {
    note: (address, state) => {
      if (state === 'closed') states.delete(address);
      else states.set(address, state);
    },
    tripped: () => {
      const worst = new Map<string, TrippedState>();
      for (const [address, state] of states) {
        const provider = providerOf(address);
        if (worst.get(provider) !== 'open') worst.set(provider, state);
      }
      return [...worst].map(([provider, state]) => ({ provider, state }));
    },
  };
}
