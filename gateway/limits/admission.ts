/** Admits or refuses calls under their policies, with the counters that all gateways share. */
import { LRUCache } from 'lru-cache';
import type { Catalog } from '#core/models/mod.ts';
import { parsePolicy, rateLimitHeaders } from '#core/rate-limit/mod.ts';
import type { Decision, Limit, Limiter, Policy, Reservation } from '#platform/limiter/mod.ts';
import type { Call, Caller, CallHeaders, Outcome } from '../request/call.ts';
import type { CallResult } from '../request/record.ts';
import type { HeaderPairs } from '../response/reply.ts';
import { createCosts } from './cost.ts';
import { counterOf } from './counter.ts';
import { hasUsageAtEnd } from './scan-usage.ts';

/** The limit of a call: by the policy that it names, or by its key's. */
export type CallLimit = Limit & {
  /** The limit of its key beside that of a policy which the call names; null: there is none. */
  ofKey: Limit | null;
};

export type Admission = {
  readonly isAdmitted: boolean;
  /** The policy that refuses the call, as it was parsed; null: none does. */
  readonly refusedBy: string | null;
  /** Headers of every reply to the call. */
  readonly headers: HeaderPairs;
  /** Returns whether `settle` reads the completion in a response, all of it. */
  reads(outcome: Outcome): boolean;
  /** Settles the call's estimated cost; to be called once, with the result, or null when the call was not made. */
  settle(result: CallResult | null): void;
};

/** The admission of a call without a limit. */
export const UNLIMITED: Admission = {
  isAdmitted: true,
  refusedBy: null,
  headers: [],
  reads: () => false,
  settle: () => {},
};

export type CallLimits = {
  /**
   * Returns the limit of a call, by the policy of its header and that of its API key; null: none.
   * @throws AssayError invalid_rate_limit_policy
   */
  limitOf(headers: CallHeaders, caller: Caller): CallLimit | null;
  /**
   * Counts a call, or refuses it. A call served from the cache is not counted, and still gets the headers of its limit.
   * @throws AssayError invalid_rate_limit_policy when the call cannot be counted in the policy's unit
   */
  admit(call: Call, limit: CallLimit, isCacheHit: boolean): Admission | Promise<Admission>;
};

/** Policies are few and calls are many: parsed policies are kept by their text. */
const POLICIES_KEPT = 1_000;
/** Characters; a longer text is padded, as with zeros. */
const LONGEST_KEPT = 256;

/** Makes the limits of calls, counted by `limiter`, with the catalog's prices. */
export function createCallLimits(limiter: Limiter, catalog: Pick<Catalog, 'costOf'>): CallLimits {
  const costs = createCosts(catalog);
  const policies = new LRUCache<string, Policy>({ max: POLICIES_KEPT });

  function readPolicy(text: string): Policy {
    let policy = policies.get(text);
    if (policy === undefined) {
      policy = parsePolicy(text);
      if (text.length <= LONGEST_KEPT) policies.set(text, policy);
    }
    return policy;
  }

  function limitBy(text: string, headers: CallHeaders, caller: Caller): Limit {
    const policy = readPolicy(text);
    return { policy, counter: counterOf(policy, caller, headers) };
  }

  function reserved(call: Call, reservation: Reservation): Admission {
    const settle = (result: CallResult | null): void => {
      let costNano: number | null = null;
      // A reservation that is never settled would stay open.
      try {
        costNano = result === null ? 0 : costs.actual(call, result);
      } finally {
        reservation.settle(costNano);
      }
    };
    const admission = toAdmission(reservation, false);
    if (!reservation.isAdmitted) return admission;
    const reads = (outcome: Outcome) => !call.endpoint.isFree && !hasUsageAtEnd(outcome);
    return { ...admission, reads, settle };
  }

  function admitByBoth(call: Call, named: Limit, own: Limit): Promise<Admission> {
    const isMoney = named.policy.unit === 'cents' || own.policy.unit === 'cents';
    // Before anything is charged: a model without a price throws.
    const estimateNano = isMoney ? costs.estimate(call) : 0;
    return limiter.admitByBoth(own, named, estimateNano).then((made) => reserved(call, made));
  }

  function reserve(call: Call, { policy, counter }: CallLimit): Admission | Promise<Admission> {
    const reservation = limiter.reserve(counter, policy, costs.estimate(call));
    return reservation instanceof Promise
      ? reservation.then((made) => reserved(call, made))
      : reserved(call, reservation);
  }

  return {
    limitOf: (headers, caller) => {
      const { rateLimitPolicy: named } = headers;
      const { rateLimitPolicy: own } = caller;
      if (own === null) return named === null ? null : { ...limitBy(named, headers, caller), ofKey: null };
      const { policy, counter } = limitBy(own, headers, caller);
      const ofKey: Limit = { policy, counter: { ...counter, isOfKey: true } };
      return named === null ? { ...ofKey, ofKey: null } : { ...limitBy(named, headers, caller), ofKey };
    },
    admit: (call, limit, isCacheHit) => {
      const { policy, counter, ofKey } = limit;
      if (ofKey !== null) {
        if (!isCacheHit) return admitByBoth(call, limit, ofKey);
        return limiter.peekBoth(ofKey, limit).then((decision) => toAdmission(decision, true));
      }
      if (!isCacheHit && policy.unit === 'cents') return reserve(call, limit);
      const decision = isCacheHit ? limiter.peek(counter, policy) : limiter.admit(counter, policy);
      return decision instanceof Promise
        ? decision.then((made) => toAdmission(made, isCacheHit))
        : toAdmission(decision, isCacheHit);
    },
  };
}

function toAdmission(decision: Decision, isCacheHit: boolean): Admission {
  const isAdmitted = isCacheHit || decision.isAdmitted;
  const headers = rateLimitHeaders({ ...decision, isAdmitted });
  return {
    isAdmitted,
    refusedBy: isAdmitted ? null : decision.policy.text,
    headers: headers.map(([name, value]) => [name.toLowerCase(), value]),
    reads: UNLIMITED.reads,
    settle: UNLIMITED.settle,
  };
}
