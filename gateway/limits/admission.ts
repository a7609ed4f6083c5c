/** Lets calls in, or not: the policy that a call is under, asked of the counters that all gateways share. */

import type { Catalog } from '#core/catalog/mod.ts';
import { newRequestId } from '#core/ids.ts';
import type { Counter, Decision, Limiter, Policy } from '#core/limits/mod.ts';
import { rateLimitHeaders } from '#core/rate-limit/mod.ts';
import type { HeaderPairs } from '../chat/answer.ts';
import type { Call } from '../chat/call.ts';
import { createCosts } from './cost.ts';

/** The limit that a call comes under: its policy, and the counter that it uses. */
export type CallLimit = { policy: Policy; counter: Counter };

export type Admission = {
  isAdmitted: boolean;
  /** For every answer to the call. */
  headers: HeaderPairs;
};

export type Admissions = {
  /**
   * Counts a call, or refuses it. One whose answer is stored uses nothing, and is told how its limit stands.
   * @throws AssayError invalid_rate_limit_policy when the call cannot be counted in the policy's unit
   */
  admit(call: Call, limit: CallLimit, isStored: boolean): Admission | Promise<Admission>;
};

/** Makes what admits calls by `limiter`; what they cost is the catalog's. */
export function createAdmissions(limiter: Limiter, catalog: Pick<Catalog, 'costOf'>): Admissions {
  const costs = createCosts(catalog);

  async function reserve(call: Call, { policy, counter }: CallLimit): Promise<Decision> {
    const { organizationId } = call.caller;
    // Of its own: the call's may be one that its caller chose, and that another call under way has as well.
    const reservationId = newRequestId(call.createdAtMs);
    const decision = await limiter.reserve(counter, policy, {
      reservationId,
      estimateNano: costs.estimate(call),
    });
    if (decision.isAdmitted) {
      call.whenEnded.push((outcome) => {
        limiter.settle(organizationId, reservationId, outcome === null ? 0 : costs.actual(call, outcome));
      });
    }
    return decision;
  }

  function decide(call: Call, limit: CallLimit, isStored: boolean): Decision | Promise<Decision> {
    const { policy, counter } = limit;
    if (isStored) return limiter.peek(counter, policy);
    return policy.unit === 'cents' ? reserve(call, limit) : limiter.admit(counter, policy);
  }

  return {
    admit: (call, limit, isStored) => {
      const decision = decide(call, limit, isStored);
      return decision instanceof Promise
        ? decision.then((made) => toAdmission(made, isStored))
        : toAdmission(decision, isStored);
    },
  };
}

function toAdmission(decision: Decision, isStored: boolean): Admission {
  const isAdmitted = isStored || decision.isAdmitted;
  const headers = rateLimitHeaders({ ...decision, isAdmitted });
  return { isAdmitted, headers: headers.map(([name, value]) => [name.toLowerCase(), value]) };
}
