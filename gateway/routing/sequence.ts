/** One call that may be tried several times: what follows what. */
import type { AssayError, ErrorCode } from '#core/contracts/errors.ts';
import {
  type AnswerSink,
  failedHere,
  isEventStream,
  type ProviderAnswer,
  type ResponseHeaders,
} from '#platform/http-client/mod.ts';
import { GatheredBytes } from '#platform/http-server/mod.ts';
import type { Candidate } from '../providers/resolve.ts';
import type { AttemptsOptions, CallHearing, RoutedCall } from './attempt-loop.ts';
import { addressOf, healthOf, type Permit } from './circuit-breaker.ts';
import { isWorthFallingBack, isWorthRetrying, type TryOutcome, waitBeforeRetry } from './retry.ts';

/** No try begins later than this after the first: OpenAI's and Anthropic's clients give up then. */
const DEADLINE_MS = 600_000;

type Try = {
  index: number;
  route: Candidate;
  leave: Permit;
  startedAt: number;
  /** `passed`: its answer is the call's. `over`: nothing of it counts any more. */
  state: 'open' | 'passed' | 'over';
  abort(): void;
};

/** What follows a try that failed: the same route after a while, or the next one. */
type Next = { waitMs: number } | 'fallback';

/** The tries of one call. */
export class Sequence {
  readonly #call: RoutedCall;
  readonly #hear: CallHearing;
  readonly #options: AttemptsOptions;
  readonly #beganAt: number;
  /** Places of routes, in the order of the plan. */
  readonly #untried: number[];
  #retriesBefore = 0;
  #current: Try | null = null;
  #stopWaiting = nothing;

  constructor(call: RoutedCall, hear: CallHearing, options: AttemptsOptions) {
    this.#call = call;
    this.#hear = hear;
    this.#options = options;
    this.#beganAt = options.clock.monotonic();
    this.#untried = call.routes.map((_, index) => index);
  }

  /** Tries the first route whose address is well; when none is, the first: it may have recovered. */
  begin(): void {
    this.#retriesBefore = 0;
    for (const [at, index] of this.#untried.entries()) {
      const leave = this.#options.breaker.admit(this.#addressOf(index));
      if (leave.kind === 'open') continue;
      this.#untried.splice(at, 1);
      this.#try(index, leave);
      return;
    }
    const first = this.#untried.shift()!;
    this.#try(first, this.#options.breaker.peekPermit(this.#addressOf(first)));
  }

  /** May be called again, and when all is over. */
  abort(): void {
    this.#stopWaiting();
    const tried = this.#current;
    if (tried === null) return;
    if (tried.state === 'open') this.#end(tried, 0, 'client_closed_request');
    tried.state = 'over';
    tried.abort();
  }

  #addressOf(index: number): string {
    return addressOf(this.#call.routes[index]!);
  }

  #try(index: number, leave: Permit): void {
    const route = this.#call.routes[index]!;
    const startedAt = this.#options.clock.monotonic();
    const tried: Try = { index, route, leave, startedAt, state: 'open', abort: nothing };
    this.#current = tried;
    try {
      tried.abort = this.#call.tryRoute(route, index, {
        onStart: (answer) => this.#answered(tried, answer),
        onFailure: (error) => this.#failed(tried, error),
      });
    } catch (error) {
      if (tried.state === 'passed') throw error;
      this.#failed(tried, failedHere(error));
    }
    // It was given up before there was anything to stop it with.
    if (tried.state === 'over') tried.abort();
  }

  #answered(tried: Try, answer: ProviderAnswer): AnswerSink {
    if (tried.state !== 'open') return DEAF;
    const { status, headers } = answer;
    if (status < 400) return this.#canGoOn() ? this.#held(tried, answer) : this.#pass(tried, answer);
    const outcome: TryOutcome = { status, headers, errorCode: null };
    this.#end(tried, status, null);
    const next = this.#nextAfter(tried, outcome);
    if (next === null) return this.#passOn(tried, answer);
    tried.state = 'over';
    tried.abort();
    this.#goOn(tried, next);
    return DEAF;
  }

  #failed(tried: Try, error: AssayError): void {
    if (tried.state !== 'open') return;
    tried.state = 'over';
    this.#end(tried, 0, error.code);
    const next = this.#nextAfter(tried, { status: 0, headers: NO_HEADERS, errorCode: error.code });
    if (next === null) this.#hear.onFailure(error, tried.index);
    else this.#goOn(tried, next);
  }

  /** Passes an answer on once it is known to be one: a stream by its first byte, another when it is whole. */
  #held(tried: Try, answer: ProviderAnswer): AnswerSink {
    const { refuse, maxHeldBytes } = this.#call;
    let sink: AnswerSink | null = null;
    const held = new GatheredBytes();
    const open = (): AnswerSink => {
      const opened = this.#pass(tried, answer);
      sink = opened;
      const early = held.bytes();
      held.clear();
      if (early.length > 0) opened.data(early);
      return opened;
    };
    return {
      data: (chunk) => {
        if (sink !== null) {
          sink.data(chunk);
          return;
        }
        held.push(chunk);
        // One that is too large is refused by who takes it.
        if (isEventStream(answer) || held.length > maxHeldBytes) open();
      },
      end: () => {
        if (sink !== null) {
          sink.end();
          return;
        }
        const settle = (refusal: AssayError | null): void => {
          if (refusal !== null) this.#failed(tried, refusal);
          else open().end();
        };
        const refusal = refuse(tried.route, answer, held.bytes());
        if (refusal instanceof Promise)
          refusal.then(settle).catch((error) => this.#failed(tried, failedHere(error)));
        else settle(refusal);
      },
      fail: (error) => {
        if (sink === null) this.#failed(tried, error);
        else sink.fail(error);
      },
    };
  }

  #pass(tried: Try, answer: ProviderAnswer): AnswerSink {
    if (tried.state !== 'open') return DEAF;
    this.#end(tried, answer.status, null);
    return this.#passOn(tried, answer);
  }

  #passOn(tried: Try, answer: ProviderAnswer): AnswerSink {
    tried.state = 'passed';
    return this.#hear.onStart(answer, tried.index);
  }

  /** Tells of a try, once. */
  #end({ route, leave, startedAt }: Try, status: number, errorCode: ErrorCode | null): void {
    const { breaker, clock } = this.#options;
    breaker.settle(addressOf(route), leave, healthOf(status, errorCode));
    this.#call.onTried({
      provider: route.row.label,
      model: route.model,
      status,
      errorCode,
      latencyMs: Math.round(clock.monotonic() - startedAt),
    });
  }

  #canGoOn(): boolean {
    return this.#untried.length > 0 || this.#retriesBefore < this.#call.retries;
  }

  /** Null: the outcome is the call's. */
  #nextAfter({ route }: Try, outcome: TryOutcome): Next | null {
    const { breaker, clock, random } = this.#options;
    const leftMs = this.#beganAt + DEADLINE_MS - clock.monotonic();
    const canFallBack = this.#untried.length > 0 && leftMs >= 0 && isWorthFallingBack(outcome);
    // To wait for an address that others have found ill would be to wait for nothing.
    const isBetterElsewhere = canFallBack && breaker.peekPermit(addressOf(route)).kind === 'open';
    if (this.#retriesBefore < this.#call.retries && isWorthRetrying(outcome) && !isBetterElsewhere) {
      const retriesBefore = this.#retriesBefore;
      const waitMs = waitBeforeRetry(outcome, { retriesBefore, nowMs: clock.now(), random });
      if (waitMs !== null && waitMs <= leftMs) return { waitMs };
    }
    return canFallBack ? 'fallback' : null;
  }

  #goOn({ index, route }: Try, next: Next): void {
    if (next === 'fallback') {
      this.begin();
      return;
    }
    this.#retriesBefore += 1;
    this.#stopWaiting = this.#options.after(next.waitMs, () =>
      this.#try(index, this.#options.breaker.admit(addressOf(route))),
    );
  }
}

/** What comes for a try that was given up. */
const DEAF: AnswerSink = { data: nothing, end: nothing, fail: nothing };
const NO_HEADERS: ResponseHeaders = {};

export function nothing(): void {}
