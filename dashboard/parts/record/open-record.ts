/** Records in the worker that keeps them, as the page asks for them. */
import { ApiFailure } from '../../client/call.ts';
import { whenForgotten } from '../../client/recent.ts';
import { readIdentity } from '../../state/me.ts';
import { startWorker } from '../../workers/start.ts';
import { MISSING_PART } from '../later/missing-part.ts';
import type { BodyMethods, BodyReader } from './body-methods.ts';
import type { Answer, MethodName, Question, RecordHead, TurnPage } from './record-protocol.ts';

/** A question before it has a number. */
type Asked =
  | { kind: 'open'; requestId: string }
  | { kind: 'open-turns'; page: string }
  | { kind: 'ask'; requestId: string; page: string | null; method: MethodName; values: unknown[] }
  | ({ kind: 'keep'; requestId: string } & ReceivedAnswer);

/** An answer as it came: the text of an event stream, or of one body. */
export type ReceivedAnswer = { text: string; isStream: boolean; status: number };

type Waiting = { resolve: (value: unknown) => void; reject: (error: Error) => void };

const waiting = new Map<number, Waiting>();
let worker: Worker | null = null;
let calls = 0;

/** Starts the worker at the first question, and again when it has died. */
function running(): Worker {
  if (worker !== null) return worker;
  worker = startWorker('record');
  let isReady = false;
  worker.onmessage = ({ data }: MessageEvent<Answer>) => {
    if (data.kind === 'ready') {
      isReady = true;
      return;
    }
    const one = waiting.get(data.call);
    waiting.delete(data.call);
    if (data.kind === 'done') one?.resolve(data.value);
    else {
      const { message, ...rest } = data.failure;
      // Only the page itself can show the log-in.
      if (rest.status === 401) void readIdentity();
      one?.reject(new ApiFailure(message, rest));
    }
  };
  worker.onerror = () => {
    worker?.terminate();
    worker = null;
    const failure = { status: 0, requestId: null, retryAfterS: null };
    const reason = isReady ? 'The record is too large for this browser' : MISSING_PART;
    for (const { reject } of waiting.values()) reject(new ApiFailure(reason, failure));
    waiting.clear();
  };
  return worker;
}

// It keeps what the log-in could read.
whenForgotten(() => {
  worker?.terminate();
  worker = null;
  const ended = new DOMException('The log-in has ended', 'AbortError');
  for (const { reject } of waiting.values()) reject(ended);
  waiting.clear();
});

function ask(asked: Asked, signal?: AbortSignal): Promise<unknown> {
  calls += 1;
  const call = calls;
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  if (signal?.aborted) return Promise.reject(signal.reason);
  waiting.set(call, { resolve, reject });
  const stop = () => {
    if (!waiting.delete(call)) return;
    worker?.postMessage({ kind: 'stop', call } satisfies Question);
    reject(signal?.reason);
  };
  signal?.addEventListener('abort', stop);
  // A record is asked about hundreds of times, all with one signal.
  const leave = () => signal?.removeEventListener('abort', stop);
  promise.then(leave, leave);
  running().postMessage({ ...asked, call } satisfies Question);
  return promise;
}

/**
 * Fetches a record into the worker; returns all of it but the bodies.
 * @throws ApiFailure, AbortError
 * @example const { data } = useResource(`record ${id}`, (signal) => openRecord(id, signal));
 */
export async function openRecord(requestId: string, signal?: AbortSignal): Promise<RecordHead> {
  return (await ask({ kind: 'open', requestId }, signal)) as RecordHead;
}

/**
 * Fetches a page of a session's conversation into the worker; returns all of it but the messages.
 * @param page its address in the API
 * @throws ApiFailure, AbortError
 */
export async function openTurns(page: string, signal?: AbortSignal): Promise<TurnPage> {
  return (await ask({ kind: 'open-turns', page }, signal)) as TurnPage;
}

/** Keeps an answer that the page received itself: `bodiesOf` answers about it until its record is fetched. */
export async function keepAnswer(requestId: string, answer: ReceivedAnswer): Promise<void> {
  await ask({ kind: 'keep', requestId, ...answer });
}

const METHODS = ['node', 'children', 'text', 'copy', 'image', 'search', 'lines', 'conversation'] as const;

/**
 * Returns the ways to ask about a record's bodies; they throw what `openRecord` throws.
 * @param signal gives all questions up when the record is no longer shown
 * @param page of a conversation, for what the request's turn adds to it; null: for the record's own bodies
 */
export function bodiesOf(requestId: string, signal?: AbortSignal, page: string | null = null): BodyReader {
  const methods = METHODS.map((method: keyof BodyMethods) => [
    method,
    (...values: unknown[]) => ask({ kind: 'ask', requestId, page, method, values }, signal),
  ]);
  return Object.fromEntries(methods) as BodyReader;
}
