/**
 * Tries a call at the routes of its plan, one after the other, until an answer can be passed on. Seen from the relay it
 * is one call: it hears of one beginning of an answer, or of one failure, and can stop everything at any moment.
 *
 * Nothing is tried once anything was passed on. As long as something else can be tried, a stream is passed on with its
 * first byte and another answer when it is whole, not before: a provider that dies between its headers and its body, or
 * sends a page instead of an answer, is one that did not answer.
 */

import type { AssayError, ErrorCode } from '#core/contracts/errors.ts';
import { type AnswerSink, failedHere, type ProviderAnswer } from '#platform/http-client/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { Candidate } from '../providers/resolve.ts';
import { addressOf, type Breaker, healthOf } from './circuit-breaker.ts';
import { nothing, Sequence } from './sequence.ts';

/** Who waits for one try. One of the two is called, once. */
export type TryHearing = {
  /** Status and headers are there: returns where the bytes go. */
  onStart(answer: ProviderAnswer): AnswerSink;
  /** There will be no answer. */
  onFailure(error: AssayError): void;
};

/** The same for a call; `index` is the place in `routes` of the route that answered, or failed last. */
export type CallHearing = {
  onStart(answer: ProviderAnswer, index: number): AnswerSink;
  onFailure(error: AssayError, index: number): void;
};

/** How one try ended, as log entries have it. */
export type Attempt = {
  /** As records show it. */
  provider: string;
  model: string;
  /** 0: no answer came. */
  status: number;
  errorCode: ErrorCode | null;
  /** To the beginning of the answer, or to the failure. */
  latencyMs: number;
};

export type RoutedCall = {
  /** At least one. */
  routes: readonly Candidate[];
  /** How often each of them is tried again. */
  retries: number;
  /**
   * Begins to call a route, and returns what stops it; what is heard of it after that does not count. What it throws
   * counts as its failure.
   */
  tryRoute(route: Candidate, index: number, hear: TryHearing): () => void;
  /** What is wrong with an answer that came whole, with a status below 400; null: nothing. */
  refuse(
    route: Candidate,
    answer: ProviderAnswer,
    body: Buffer,
  ): AssayError | null | Promise<AssayError | null>;
  /** Of a larger answer the beginning is passed on before its end is there. */
  maxHeldBytes: number;
  /**
   * Hears of each try when its outcome is known, before the relay does. Of a call that can be tried once only it hears
   * nothing: its record says it all.
   */
  onTried(tried: Attempt): void;
};

export type AttemptsOptions = {
  breaker: Breaker;
  clock: Clock;
  /** Numbers in [0, 1). */
  random(): number;
  /** Runs something after so many milliseconds; returns what cancels that. */
  after(ms: number, run: () => void): () => void;
};

/** Begins a call; returns what stops it, within the same tick, after which nothing is heard of it again. */
export type SendRouted = (call: RoutedCall, hear: CallHearing) => () => void;

/** Makes what sends calls along their plans. */
export function createAttempts(options: AttemptsOptions): SendRouted {
  return (call, hear) => {
    if (call.routes.length === 1 && call.retries === 0) return sendOnce(call, hear, options.breaker);
    const sequence = new Sequence(call, hear, options);
    sequence.begin();
    return () => sequence.abort();
  };
}

/** Most calls: there is one way, and what comes of it is passed on. Only the breaker listens. */
function sendOnce({ routes, tryRoute }: RoutedCall, hear: CallHearing, breaker: Breaker): () => void {
  const route = routes[0]!;
  const address = addressOf(route);
  const leave = breaker.peekPermit(address);
  try {
    return tryRoute(route, 0, {
      onStart: (answer) => {
        breaker.settle(address, leave, healthOf(answer.status, null));
        return hear.onStart(answer, 0);
      },
      onFailure: (error) => {
        breaker.settle(address, leave, healthOf(0, error.code));
        hear.onFailure(error, 0);
      },
    });
  } catch (error) {
    hear.onFailure(failedHere(error), 0);
    return nothing;
  }
}
