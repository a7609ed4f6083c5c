/** Calls whose tries end as a script says, in a time that is advanced. What happens is told in words, in order. */

import { AssayError, type ErrorCode } from '#core/contracts/errors.ts';
import type { AnswerSink, ResponseHeaders } from '#platform/http-client/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { PROVIDERS } from '../../../../gateway/providers/registry.ts';
import type { Candidate } from '../../../../gateway/providers/resolve.ts';
import {
  type Attempt,
  createAttempts,
  createBreaker,
  type RoutedCall,
  type TryHearing,
} from '../../../../gateway/routing/mod.ts';

/** A route to a model; each model has an address of its own unless one is given. */
export function routeTo(model: string, origin = `http://${model}.test`): Candidate {
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

/** How a try ends. */
export type Ending =
  /** An answer of this status with a body of one byte. */
  | { status: number; headers?: ResponseHeaders }
  /** No answer. */
  | { fails: ErrorCode }
  /** The beginning of a stream, and then nothing but this. */
  | { breaksOff: ErrorCode }
  /** The same, after a byte; of `headers` if they are given. */
  | { breaksOffLate: ErrorCode; headers?: ResponseHeaders }
  | 'hangs';

export type Script = Record<string, readonly Ending[]>;

export type CallOptions = {
  /** By model, in the order of the plan: how its first try ends, its second… */
  script: Script;
  routes?: readonly Candidate[];
  retries?: number;
  /** Every try ends before it has begun: nothing is waited for but time. */
  isSynchronous?: boolean;
  /** Tries go on after they were stopped, as what is being decompressed does. */
  isDeaf?: boolean;
  /** Default: 100. */
  maxHeldBytes?: number;
  random?: () => number;
  time?: Time;
  breaker?: ReturnType<typeof createBreaker>;
};

export type ScriptedCall = {
  /** In words, in order. */
  events: string[];
  attempts: Attempt[];
  time: Time;
  /** Lets the next thing happen; false: there is nothing left that could. */
  step(): boolean;
  /** Lets everything happen. */
  finish(): void;
  abort(): void;
};

const BYTE = Buffer.from('x');
const STREAM = { 'content-type': 'text/event-stream' };
export const PLAIN = { 'content-type': 'application/json' };
export const PAGE = { 'content-type': 'text/html' };

/** Whole answers are refused when they are pages. */
export const refuse: RoutedCall['refuse'] = (_, { headers }) =>
  headers['content-type'] === PAGE['content-type'] ? failure('provider_bad_answer') : null;
const failure = (code: ErrorCode) => new AssayError(code, 'as scripted');

export function startCall(options: CallOptions): ScriptedCall {
  const { script, retries = 0, random = () => 0.5, time = new Time(), maxHeldBytes = 100 } = options;
  const { isSynchronous = false, isDeaf = false } = options;
  const routes = options.routes ?? Object.keys(script).map((model) => routeTo(model));
  const breaker = options.breaker ?? createBreaker({ clock: time.clock });
  const events: string[] = [];
  const attempts: Attempt[] = [];
  const due: (() => void)[] = [];
  const tries = new Map<string, number>();

  const after = (ms: number, run: () => void) => {
    events.push(`wait ${ms}`);
    return time.after(ms, run);
  };

  const tryRoute = ({ model }: Candidate, _: number, hear: TryHearing) => {
    const before = tries.get(model) ?? 0;
    tries.set(model, before + 1);
    const ending = script[model]?.[before];
    if (ending === undefined) throw new Error(`The script has no try ${before + 1} of ${model}`);
    events.push(`try ${model}`);
    let isStopped = false;
    const soon = (deliver: () => void) => {
      if (isSynchronous) deliver();
      else due.push(() => (isStopped && !isDeaf) || deliver());
    };
    play(ending, hear, soon);
    return () => {
      if (!isStopped) events.push(`stop ${model}`);
      isStopped = true;
    };
  };

  const models = routes.map(({ model }) => model);
  const stop = createAttempts({ breaker, clock: time.clock, random, after })(
    { routes, retries, tryRoute, refuse, maxHeldBytes, onTried: (tried) => attempts.push(tried) },
    {
      onStart: ({ status }, index) => {
        events.push(`${status} of ${models[index]}`);
        return {
          data: () => events.push('byte'),
          end: () => events.push('end'),
          fail: ({ code }) => events.push(`broken: ${code}`),
        };
      },
      onFailure: ({ code }, index) => events.push(`${code} of ${models[index]}`),
    },
  );
  const step = () => {
    const next = due.shift();
    if (next === undefined) return time.next();
    next();
    return true;
  };
  return {
    events,
    attempts,
    time,
    step,
    finish: () => {
      while (step());
    },
    abort: stop,
  };
}

function play(ending: Ending, hear: TryHearing, soon: (deliver: () => void) => void): void {
  if (ending === 'hangs') return;
  if ('fails' in ending) {
    soon(() => hear.onFailure(failure(ending.fails)));
    return;
  }
  const status = 'status' in ending ? ending.status : 200;
  const headers = ('headers' in ending ? ending.headers : undefined) ?? STREAM;
  const answer = { status, headers, pause: () => {}, resume: () => {}, stop: () => {} };
  soon(() => {
    const sink = hear.onStart(answer);
    soon(() => playBody(ending, sink));
  });
}

function playBody(ending: Exclude<Ending, 'hangs' | { fails: ErrorCode }>, sink: AnswerSink): void {
  if ('breaksOff' in ending) {
    sink.fail(failure(ending.breaksOff));
    return;
  }
  sink.data(BYTE);
  if ('breaksOffLate' in ending) sink.fail(failure(ending.breaksOffLate));
  else sink.end();
}
