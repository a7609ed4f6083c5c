/** Lets calls in, or not: the policy that a call is under, asked of the counters that all gateways share. */

import type { Catalog } from '#core/models/mod.ts';
import { rateLimitHeaders } from '#core/rate-limit/mod.ts';
import type { Counter, Decision, Limiter, Policy, Reservation } from '#platform/limiter/mod.ts';
import type { Candidate } from '../providers/resolve.ts';
import type { Call } from '../request/call.ts';
import type { HeaderPairs } from '../response/reply.ts';
import { createCosts } from './cost.ts';

/** The limit that a call comes under: its policy, and the counter that it uses. */
export type CallLimit = { policy: Policy; counter: Counter };

/** A call that asks to be let in. */
export type Applicant = {
  call: Call;
  /** Where it may be answered. */
  routes: readonly Candidate[];
  limit: CallLimit;
  /** Its answer is stored. */
  isStored: boolean;
};

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
  admit(applicant: Applicant): Admission | Promise<Admission>;
};

/** Makes what admits calls by `limiter`; what they cost is the catalog's. */
export function createAdmissions(limiter: Limiter, catalog: Pick<Catalog, 'costOf'>): Admissions {
  const costs = createCosts(catalog);

  function reserve({ call, routes, limit }: Applicant): Decision | Promise<Decision> {
    const reservation = limiter.reserve(limit.counter, limit.policy, costs.estimate(call, routes));
    return reservation instanceof Promise
      ? reservation.then((made) => settleAtEnd(call, made))
      : settleAtEnd(call, reservation);
  }

  function settleAtEnd(call: Call, reservation: Reservation): Decision {
    const { isAdmitted, settle } = reservation;
    if (isAdmitted) {
      call.whenEnded.push((outcome) => settle(outcome === null ? 0 : costs.actual(call, outcome)));
    }
    return reservation;
  }

  function decide(applicant: Applicant): Decision | Promise<Decision> {
    const { policy, counter } = applicant.limit;
    if (applicant.isStored) return limiter.peek(counter, policy);
    return policy.unit === 'cents' ? reserve(applicant) : limiter.admit(counter, policy);
  }

  return {
    admit: (applicant) => {
      const { isStored } = applicant;
      const decision = decide(applicant);
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
