import { logPolicy, type Policy } from '#core/rate-limit/mod.ts';
import type { Decision, Limiter } from './types.ts';

/** What an organization may log: so much in any 5 seconds, whoever logs it for it. */
export type LogLimit = {
  /** Counts one request, or refuses. Never rejects. */
  admit(organizationId: string, logsPer5s: number): Decision | Promise<Decision>;
};

/** Makes the limit on logs, which `limiter` counts. */
export function createLogLimit(limiter: Pick<Limiter, 'admit'>): LogLimit {
  const policies = new Map<number, Policy>();

  /** Few rates are in use: one for each tier, and some of organizations' own. */
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
