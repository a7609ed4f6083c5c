/**
 * Sends a call to its candidates, one after the other, until a response can be passed on.
 *
 * Nothing is sent again once anything was passed on. As long as another attempt could follow, a stream is passed on with
 * its first event and any other response when it is whole: a provider that dies between its headers and its body, sends
 * a page instead of a completion, or an error as its first event, did not respond.
 */

import { AssayError, type ErrorCode } from '#core/contracts/errors.ts';
import {
  failedHere,
  isEventStream,
  type ProviderResponse,
  type ResponseHeaders,
} from '#platform/http-client/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import type { Candidate } from '../providers/resolve.ts';
import { addressOf, type CircuitBreaker, healthOf, type Permit } from './circuit-breaker.ts';
import { type AttemptOutcome, isWorthFallingBack, isWorthRetrying, waitBeforeRetry } from './retry.ts';

/** The end of one attempt, as log entries have it. */
export type Attempt = {
  /** As records show it. */
  provider: string;
  model: string;
  /** 0: no response came. */
  status: number;
  errorCode: ErrorCode | null;
  /** To the beginning of the response, or to the failure. */
  latencyMs: number;
};

export type CandidateResponse = {
  response: ProviderResponse;
  /** The status that it counts as: an error payload counts as the error, whatever its status says. */
  countsAs: number;
  /** From the cache: the candidate was not called. */
  isStored: boolean;
};

export type RoutedCall = {
  /** At least one. */
  candidates: readonly Candidate[];
  /** Further attempts at each of them. */
  retries: number;
  /** Sends the call to the candidate at `index`; rejects when there is no response, or when `signal` aborts. */
  send(index: number, signal: AbortSignal): Promise<CandidateResponse>;
  /** Says what is wrong with a response that came whole, with a status below 400; null: nothing. */
  refuse(candidate: Candidate, response: ProviderResponse, body: Buffer): Refusal | Promise<Refusal>;
  /** Watches a stream until it is known whether it begins with an error. */
  watch(response: ProviderResponse): StreamWatch;
  /** The beginning of a larger response is passed on before its end is there. */
  maxHeldBytes: number;
};

type Refusal = AssayError | null;

/** Reads the beginning of a stream. */
type StreamWatch = {
  /** Takes the next bytes; returns whether no more are needed. */
  isEnough(chunk: Buffer, heldBytes: number): boolean;
  /** Takes the end of a stream that ended before there was enough; returns whether it held any event. */
  end(): boolean;
  /** Returns the status of the error that the stream begins with; null: none. */
  errorStatus(): number | null;
};

export type Attempted = {
  /** The place of the candidate that responded, or failed last. */
  index: number;
  /** In order, without a response from the cache; empty when the call could be sent once only: its record says it all. */
  attempts: readonly Attempt[];
  /** client_closed_request when the signal aborted. */
  result: ProviderResponse | AssayError;
};

export type AttemptLoopOptions = {
  breaker: CircuitBreaker;
  clock: Clock;
  /** Numbers in [0, 1). */
  random(): number;
  /** Resolves after so many milliseconds, or as soon as `signal` aborts. Never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
};

/** Sends a call to its candidates. Never rejects. */
export type AttemptLoop = (call: RoutedCall, signal: AbortSignal) => Promise<Attempted>;

/** No attempt begins later than this after the first: OpenAI's and Anthropic's clients give up then. */
const DEADLINE_MS = 600_000;

/** Makes the function that sends calls to their candidates. */
export function createAttemptLoop(options: AttemptLoopOptions): AttemptLoop {
  const { breaker, clock, sleep } = options;
  return async (call, signal) => {
    const { candidates, retries } = call;
    const attempts: Attempt[] = [];
    const isOnlyOne = candidates.length === 1 && retries === 0;
    const deadline = clock.monotonic() + DEADLINE_MS;
    const turns = isOnlyOne ? [onlyTurn(candidates[0]!, breaker)] : byHealth(candidates, breaker);
    for (const { index, permit: firstPermit, isLast } of turns) {
      const candidate = candidates[index]!;
      let permit = firstPermit;
      for (let retriesBefore = 0; ; retriesBefore += 1) {
        const canRetry = retriesBefore < retries;
        const startedAt = clock.monotonic();
        const { result, countsAs, isStored } = await attempt(call, index, canRetry || !isLast, signal);
        const ended = outcomeOf(result, countsAs);
        const health = isStored ? 'unknown' : healthOf(ended.status, ended.errorCode);
        breaker.settle(addressOf(candidate), permit, health);
        if (!isOnlyOne && !isStored)
          attempts.push(attemptOf(candidate, ended, clock.monotonic() - startedAt));
        const attempted = { index, attempts, result };
        if (signal.aborted || isPassedOn(ended)) return attempted;
        const canFallBack = !isLast && clock.monotonic() <= deadline && isWorthFallingBack(ended);
        // To wait for an address that other calls have found failing would be to wait for nothing.
        const isBetterElsewhere = canFallBack && breaker.peekPermit(addressOf(candidate)).kind === 'open';
        const waitMs = canRetry && !isBetterElsewhere ? retryWait(ended, retriesBefore, deadline) : null;
        if (waitMs === null && !canFallBack) return attempted;
        if (!(result instanceof AssayError)) result.body.stop();
        if (waitMs === null) break;
        await sleep(waitMs, signal);
        if (signal.aborted) return { index, attempts, result: clientLeft() };
        permit = breaker.admit(addressOf(candidate));
      }
    }
    throw new Error('A call has at least one candidate');
  };

  /** Milliseconds to wait before the same candidate is tried again; null: it is not. */
  function retryWait(ended: AttemptOutcome, retriesBefore: number, deadline: number): number | null {
    if (!isWorthRetrying(ended)) return null;
    const waitMs = waitBeforeRetry(ended, { retriesBefore, nowMs: clock.now(), random: options.random });
    return waitMs !== null && waitMs <= deadline - clock.monotonic() ? waitMs : null;
  }
}

type Turn = { index: number; permit: Permit; isLast: boolean };

/** A call that cannot be sent again is never the probe of a circuit: it is made whatever the state. */
function onlyTurn(candidate: Candidate, breaker: CircuitBreaker): Turn {
  return { index: 0, permit: breaker.peekPermit(addressOf(candidate)), isLast: true };
}

/** Yields the candidates in the order of the plan, those first whose circuit is not open when their turn comes. */
function* byHealth(candidates: readonly Candidate[], breaker: CircuitBreaker): Generator<Turn, void> {
  const untried = [...candidates.keys()];
  while (untried.length > 0) {
    let place = 0;
    let permit: Permit = breaker.admit(addressOf(candidates[untried[0]!]!));
    while (permit.kind === 'open' && place < untried.length - 1) {
      place += 1;
      permit = breaker.admit(addressOf(candidates[untried[place]!]!));
    }
    // When all are open, the first of them: it may have recovered.
    const [index] = untried.splice(permit.kind === 'open' ? 0 : place, 1);
    yield { index: index!, permit, isLast: untried.length === 0 };
  }
}

type Ended = { result: ProviderResponse | AssayError; countsAs: number; isStored: boolean };

/** Sends the call once. What could be followed by another attempt is held until it is known to be a response. */
async function attempt(
  { candidates, send, refuse, watch, maxHeldBytes }: RoutedCall,
  index: number,
  canFollow: boolean,
  signal: AbortSignal,
): Promise<Ended> {
  try {
    const { response, countsAs, isStored } = await send(index, signal);
    if (signal.aborted) return failure(clientLeft());
    const passedOn = { result: response, countsAs, isStored };
    // A stored response was whole when it came.
    if (!canFollow || countsAs >= 400 || isStored) return passedOn;
    const stream = isEventStream(response) ? watch(response) : null;
    const isEnough = stream?.isEnough ?? ((_: Buffer, bytes: number) => bytes > maxHeldBytes);
    const held = await response.body.gather(isEnough, signal);
    if (held instanceof AssayError) return failure(held);
    if (held === 'stopped') return failure(clientLeft());
    if (stream !== null && (held === 'enough' || stream.end())) {
      if (signal.aborted) return failure(clientLeft());
      return { ...passedOn, countsAs: stream.errorStatus() ?? countsAs };
    }
    const refusal = held === 'whole' ? await refuse(candidates[index]!, response, response.body.held) : null;
    if (signal.aborted) return failure(clientLeft());
    return refusal === null ? passedOn : failure(refusal);
  } catch (error) {
    return failure(signal.aborted ? clientLeft() : failedHere(error));
  }
}

function failure(error: AssayError): Ended {
  return { result: error, countsAs: 0, isStored: false };
}

function clientLeft(): AssayError {
  return new AssayError('client_closed_request', 'The client left before its provider responded');
}

const NO_HEADERS: ResponseHeaders = {};

function outcomeOf(result: Ended['result'], countsAs: number): AttemptOutcome {
  return result instanceof AssayError
    ? { status: 0, headers: NO_HEADERS, errorCode: result.code }
    : { status: countsAs, headers: result.headers, errorCode: null };
}

function isPassedOn({ status, errorCode }: AttemptOutcome): boolean {
  return errorCode === null && status < 400;
}

function attemptOf({ row, model }: Candidate, { status, errorCode }: AttemptOutcome, ms: number): Attempt {
  return { provider: row.label, model, status, errorCode, latencyMs: Math.round(ms) };
}
