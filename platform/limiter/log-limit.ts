import { logPolicy, type Policy } from '#core/rate-limit/mod.ts';
import type { Decision, Limiter } from './types.ts';

/** Limit on an organization's logs in any 5 seconds, whichever role writes them. */
export type LogLimit = {
  /** Counts one request, or refuses it. Never rejects. */
  admit(organizationId: string, logsPer5s: number): Decision | Promise<Decision>;
};

/** Creates the limit on logs, counted by `limiter`. */
export function createLogLimit(limiter: Pick<Limiter, 'admit'>): LogLimit {
  const policies = new Map<number, Policy>();

  /** Returns the policy of a rate. Few rates are in use: one per tier, and some set for single organizations. */
  function policyOf(logsPer5s: number): Policy {
    let policy = policies.get(logsPer5s);
    if (policy === undefined) {
      policy = logPolicy(logsPer5s);
      policies.set(logsPer5s, policy);
    }
    return policy;
  }

  return {
    admit: (organizationId, logsPer5s) => {
      const counter = { organizationId, apiKeyId: null, unit: 'log', segment: '', value: '' } as const;
      return limiter.admit(counter, policyOf(logsPer5s));
    },
  };
}
