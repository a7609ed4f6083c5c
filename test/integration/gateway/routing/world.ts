/** Calls whose attempts end as a script says, in a time that is advanced. What happens is told in words, in order. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AssayError, type ErrorCode } from '#core/contracts/errors.ts';
import { type ProviderResponse, ResponseBody, type ResponseHeaders } from '#platform/http-client/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { PROVIDERS } from '../../../../gateway/providers/registry.ts';
import type { Candidate } from '../../../../gateway/providers/resolve.ts';
import type { RoutedCall } from '../../../../gateway/routing/attempt-loop.ts';
import {
  type Attempt,
  type CandidateResponse,
  createAttemptLoop,
  createCircuitBreaker,
} from '../../../../gateway/routing/mod.ts';

/** Returns a candidate; each model has an address of its own unless one is given. */
export function candidateOf(model: string, origin = `http://${model}.test`): Candidate {
  return { provider: 'custom', row: PROVIDERS.custom, model, origin, paths: {}, apiKey: null };
}

const EPOCH_MS = Date.parse('2026-01-31T12:00:00Z');

type Timer = { at: number; run(): void };

/** Time that stands still until it is advanced. */
export class Time {
  #ms = 0;
  readonly #timers = new Set<Timer>();
  readonly clock: Clock = { now: () => EPOCH_MS + this.#ms, monotonic: () => this.#ms };

  readonly after = (ms: number, run: () => void): (() => void) => {
    const timer = { at: this.#ms + ms, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  get timers(): number {
    return this.#timers.size;
  }

  pass(ms: number): void {
    this.#ms += ms;
  }

  /** Goes to the next timer and runs it; false: there is none. */
  next(): boolean {
    const [first] = [...this.#timers].sort((a, b) => a.at - b.at);
    if (first === undefined) return false;
    this.#timers.delete(first);
    this.#ms = Math.max(this.#ms, first.at);
    first.run();
    return true;
  }
}

/** How an attempt ends. */
export type Ending =
  /** A response of this status with a body of one byte. */
  | { status: number; headers?: ResponseHeaders }
  /** No response. */
  | { fails: ErrorCode }
  /** The beginning of a stream, and then nothing but this. */
  | { breaksOff: ErrorCode }
  /** The same, after a byte; of `headers` if they are given. */
  | { breaksOffLate: ErrorCode; headers?: ResponseHeaders }
  | 'hangs';

export type Script = Record<string, readonly Ending[]>;

export type CallOptions = {
  /** By model, in the order of the plan: how its first attempt ends, its second… */
  script: Script;
  candidates?: readonly Candidate[];
  retries?: number;
  /** Every attempt ends before it has begun: nothing is waited for but time. */
  isSynchronous?: boolean;
  /** Providers go on after they were stopped, as what is being decompressed does. */
  isDeaf?: boolean;
  /** Default: 100. */
  maxHeldBytes?: number;
  random?: () => number;
  time?: Time;
  breaker?: ReturnType<typeof createCircuitBreaker>;
};

export type ScriptedCall = {
  /** In words, in order. */
  events: string[];
  /** Empty until the call has a response, or will have none. */
  readonly attempts: readonly Attempt[];
  time: Time;
  /** Lets the next thing happen; false: there is nothing left that could. */
  step(): Promise<boolean>;
  /** Lets everything happen. */
  finish(): Promise<void>;
  abort(): Promise<void>;
};

const BYTE = Buffer.from('x');
const STREAM = { 'content-type': 'text/event-stream' };
export const PLAIN = { 'content-type': 'application/json' };
export const PAGE = { 'content-type': 'text/html' };

/** Whole responses are refused when they are pages. */
export const refuse: RoutedCall['refuse'] = (_, { headers }) =>
  headers['content-type'] === PAGE['content-type'] ? failure('provider_bad_answer') : null;
/** A byte of a stream is an event. */
export const watch: RoutedCall['watch'] = () => ({
  isEnough: () => true,
  end: () => true,
  errorStatus: () => null,
});
const failure = (code: ErrorCode) => new AssayError(code, 'as scripted');

export function startCall(options: CallOptions): ScriptedCall {
  const { script, retries = 0, random = () => 0.5, time = new Time(), maxHeldBytes = 100 } = options;
  const { isSynchronous = false, isDeaf = false } = options;
  const candidates = options.candidates ?? Object.keys(script).map((model) => candidateOf(model));
  const breaker = options.breaker ?? createCircuitBreaker({ clock: time.clock });
  const events: string[] = [];
  const due: (() => void)[] = [];
  const tries = new Map<string, number>();
  const leaving = new AbortController();
  let attempts: readonly Attempt[] = [];
  let relayed: ProviderResponse | null = null;

  const sleep = (ms: number, signal: AbortSignal) => {
    events.push(`wait ${ms}`);
    return new Promise<void>((resolve) => {
      const cancel = time.after(ms, resolve);
      signal.addEventListener('abort', () => {
        cancel();
        resolve();
      });
    });
  };

  const send = (index: number, signal: AbortSignal): Promise<CandidateResponse> => {
    const { model } = candidates[index]!;
    const before = tries.get(model) ?? 0;
    tries.set(model, before + 1);
    const ending = script[model]?.[before];
    if (ending === undefined) throw new Error(`The script has no attempt ${before + 1} of ${model}`);
    events.push(`try ${model}`);
    let isStopped = false;
    const stop = () => {
      if (!isStopped) events.push(`stop ${model}`);
      isStopped = true;
    };
    const soon = (deliver: () => void) => {
      if (isSynchronous) deliver();
      else due.push(() => (isStopped && !isDeaf) || deliver());
    };
    const { promise, resolve, reject } = Promise.withResolvers<CandidateResponse>();
    let hasBegun = false;
    signal.addEventListener('abort', () => {
      if (!hasBegun) stop();
      reject(failure('client_closed_request'));
    });
    const begin = (status: number, headers: ResponseHeaders) => {
      hasBegun = true;
      const body = new ResponseBody({ pause: () => {}, resume: () => {}, stop });
      resolve({ response: { status, headers, body }, countsAs: status, isStored: false });
      return body;
    };
    const fail = (code: ErrorCode) => {
      hasBegun = true;
      reject(failure(code));
    };
    play(ending, { begin, fail, soon });
    return promise;
  };

  const models = candidates.map(({ model }) => model);
  const loop = createAttemptLoop({ breaker, clock: time.clock, random, sleep });
  void loop({ candidates, retries, send, refuse, watch, maxHeldBytes }, leaving.signal).then((attempted) => {
    const { index, result } = attempted;
    attempts = attempted.attempts;
    if (leaving.signal.aborted) return;
    if (result instanceof AssayError) {
      events.push(`${result.code} of ${models[index]}`);
      return;
    }
    events.push(`${result.status} of ${models[index]}`);
    relayed = result;
    result.body.read({
      onData: () => events.push('byte'),
      onEnd: () => events.push('end'),
      onError: ({ code }) => events.push(`broken: ${code}`),
    });
  });
  const step = async () => {
    await nextTurn();
    const next = due.shift();
    if (next !== undefined) next();
    const hasMore = next !== undefined || time.next();
    await nextTurn();
    return hasMore;
  };
  return {
    events,
    get attempts() {
      return attempts;
    },
    time,
    step,
    finish: async () => {
      while (await step());
    },
    abort: async () => {
      leaving.abort();
      relayed?.body.stop();
      await nextTurn();
    },
  };
}

type Provider = {
  begin(status: number, headers: ResponseHeaders): ResponseBody;
  fail(code: ErrorCode): void;
  soon(deliver: () => void): void;
};

function play(ending: Ending, { begin, fail, soon }: Provider): void {
  if (ending === 'hangs') return;
  if ('fails' in ending) {
    soon(() => fail(ending.fails));
    return;
  }
  const status = 'status' in ending ? ending.status : 200;
  const headers = ('headers' in ending ? ending.headers : undefined) ?? STREAM;
  soon(() => {
    const body = begin(status, headers);
    soon(() => playBody(ending, body));
  });
}

function playBody(ending: Exclude<Ending, 'hangs' | { fails: ErrorCode }>, body: ResponseBody): void {
  if ('breaksOff' in ending) {
    body.onError(failure(ending.breaksOff));
    return;
  }
  body.onData(BYTE);
  if ('breaksOffLate' in ending) body.onError(failure(ending.breaksOffLate));
  else body.onEnd();
}
