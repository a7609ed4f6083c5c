/** Writes a call's log entry to the outbox: the moment from which nothing can lose it. */
import { answerSkeleton } from '#core/chat/mod.ts';
import type { LogEntryHead } from '#core/contracts/log-entry.ts';
import { readableHead } from '#core/contracts/readable-head.ts';
import type { Outbox } from '#platform/log-pipeline/outbox/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Clock } from '#platform/process/clock.ts';
import { settlesWithin } from '#platform/process/deadline.ts';
import type { LoggingDecision } from '../limits/logging-rate.ts';
import type { Candidate } from '../providers/resolve.ts';
import { isReadAhead, readCompletion, withCompletion } from '../response/read-completion.ts';
import type { Attempt } from '../routing/mod.ts';
import type { Call, Outcome } from './call.ts';
import { logDefect } from './log-defect.ts';

const NOTHING = Buffer.alloc(0);

/**
 * Up to here the request body is written with the START, so that an interrupted call shows what was asked. Under load a
 * START costs 5 µs of CPU with a body of 1 KB and 10 with one of this size; beyond, calls would pay more, in disk too,
 * for what hardly any of them will need, and only their head is written.
 */
const LARGEST_BEGUN_BODY = 8 * 1024;

/** A call, with what its log entry says besides and is known before its provider is called. */
export type LoggedCall = {
  readonly call: Call;
  /** The request whose stored response this call gets; null: a provider is called, as far as is known before. */
  readonly cachedFrom: string | null;
  readonly logging: LoggingDecision;
};

/** The end of a call. */
export type CallResult = {
  readonly outcome: Outcome;
  /** The candidate that responded, or that was tried last. */
  readonly candidate: Candidate;
  /** Empty when the call could be sent once at most. */
  readonly attempts: readonly Attempt[];
  /** The request whose stored response the call got; null: none. */
  readonly cachedFrom: string | null;
};

/** Bodies that the caller asked to omit never leave this process. */
export type Recorder = {
  /**
   * Commits what is known of a call before its provider is called: the record that it gets if this process is killed
   * before `record`. Resolves with whether it was kept, never rejects: the call is made either way.
   */
  begin(logged: LoggedCall): Promise<boolean>;
  /**
   * Commits a call's record; to be called once for each call that was begun, with the same object. Resolves with whether
   * it was kept. Neither throws nor rejects: the response goes out either way.
   */
  record(logged: LoggedCall, result: CallResult): Promise<boolean>;
};

/** Records how a call ended. Only the first result counts; later callers get the promise of the first. */
export type RecordResult = (result: CallResult) => Promise<boolean>;

/** Records that wait until their responses are read. A client that left waits for none of them, and a shutdown has to. */
export class LateRecords {
  readonly #records = new Set<Promise<boolean>>();

  /** Takes a record that is under way, and does not reject. */
  add(record: Promise<boolean>): void {
    this.#records.add(record);
    void record.then(() => this.#records.delete(record));
  }

  /** Resolves when all of them are committed, and after `withinMs` at the latest. */
  async settled(withinMs: number): Promise<void> {
    await settlesWithin(Promise.all(this.#records), withinMs);
  }
}

/** What happens at the end of a call. */
export type CallEnd = {
  recorder: Pick<Recorder, 'record'>;
  lateRecords: LateRecords;
  /** Returns whether `onEnd` reads the completion in a response. */
  reads(result: CallResult): boolean;
  /** Called once, with the result before it is committed. */
  onEnd(result: CallResult): void;
  log: Logger;
};

/**
 * Makes a call's `RecordResult`, which neither throws nor rejects: the response has to end, whatever fails at its end. A
 * large response is read first, in turns of the event loop, if its record or `onEnd` needs its completion.
 */
export function recordOnce(logged: LoggedCall, end: CallEnd): RecordResult {
  let recorded: Promise<boolean> | null = null;
  return (result) => {
    recorded ??= isRead(logged, result, end)
      ? recordRead(logged, result, end)
      : recordEnd(logged, result, end);
    return recorded;
  };
}

function isRead({ call, logging }: LoggedCall, result: CallResult, end: CallEnd): boolean {
  if (!isReadAhead(result.outcome)) return false;
  return (call.headers.omitResponse && logging.atOnce !== false) || end.reads(result);
}

function recordRead(logged: LoggedCall, result: CallResult, end: CallEnd): Promise<boolean> {
  const recordOutcome = (outcome: Outcome) => recordEnd(logged, { ...result, outcome }, end);
  const read = withCompletion(result.outcome);
  if (!(read instanceof Promise)) return recordOutcome(read);
  const recorded = read.then(recordOutcome);
  end.lateRecords.add(recorded);
  return recorded;
}

function recordEnd(
  logged: LoggedCall,
  result: CallResult,
  { recorder, onEnd, log }: CallEnd,
): Promise<boolean> {
  const recorded = recorder.record(logged, result);
  try {
    onEnd(result);
  } catch (error) {
    logDefect(log, logged.call.id, error, 'the end of a call failed');
  }
  return recorded;
}

/** Makes the recorder that writes to an outbox. Calls beyond their organization's logging rate leave nothing there. */
export function createRecorder(outbox: Outbox, clock: Clock, log: Logger): Recorder {
  return {
    begin: (logged) => {
      if (logged.logging.atOnce === false) return Promise.resolve(false);
      const { headers, body } = logged.call;
      const isBodyKept = !headers.omitRequest && body.bytes.length <= LARGEST_BEGUN_BODY;
      return outbox.begin(logged, {
        head: Buffer.from(JSON.stringify(interruptedHead(logged))),
        requestBody: isBodyKept ? body.bytes : NOTHING,
        responseBody: NOTHING,
      });
    },
    record: (logged, result) => {
      const { atOnce, settled } = logged.logging;
      // Ordinary calls do not wait for a promise.
      if (atOnce !== null) return tryAppend(logged, result, atOnce);
      return settled.then((isLogged) => tryAppend(logged, result, isLogged));
    },
  };

  function tryAppend(logged: LoggedCall, result: CallResult, isLogged: boolean): Promise<boolean> {
    try {
      if (isLogged) return append(logged, result);
    } catch (error) {
      logDefect(log, logged.call.id, error, 'the record of a call could not be made');
    }
    outbox.discard(logged);
    return Promise.resolve(false);
  }

  function append(logged: LoggedCall, result: CallResult): Promise<boolean> {
    const { call } = logged;
    const { head, unreadable } = readableHead(entryHead(logged, result, clock));
    if (unreadable.length > 0)
      log.error({ requestId: call.id, unreadable }, 'a log entry had members that ingest could not read');
    if (head === null) {
      outbox.discard(logged);
      return Promise.resolve(false);
    }
    let { responseBody } = result.outcome;
    if (head.omitResponse) {
      responseBody = withoutText(result.outcome);
      head.contentEncoding = null;
      head.contentType = 'application/json';
    }
    return outbox.append(logged, {
      head: Buffer.from(JSON.stringify(head)),
      requestBody: head.omitRequest ? NOTHING : call.body.bytes,
      responseBody,
    });
  }
}

/** Returns what the head of a log entry says of the call, whatever came of it. */
function callHead({ call }: LoggedCall, { candidate, attempts, cachedFrom }: Omit<CallResult, 'outcome'>) {
  const { headers, body, caller } = call;
  return {
    v: 1,
    id: call.id,
    organizationId: caller.organizationId,
    apiKeyId: caller.apiKeyId,
    source: caller.source,
    createdAtMs: call.createdAtMs,
    path: call.endpoint.path,
    provider: candidate.row.label,
    requestModel: body.model,
    ...(candidate.model !== body.model && { routedModel: candidate.model }),
    userId: headers.userId ?? body.user,
    sessionId: headers.sessionId,
    sessionPath: headers.sessionPath,
    sessionName: headers.sessionName,
    promptId: body.prompt?.promptId ?? headers.promptId,
    experimentId: caller.experimentId ?? headers.experimentId,
    properties: headers.properties,
    omitRequest: headers.omitRequest,
    omitResponse: headers.omitResponse,
    // A single attempt is the record's own, unless the response came from the cache after it.
    ...(attempts.length > (cachedFrom === null ? 1 : 0) && { attempts: [...attempts] }),
    ...(cachedFrom !== null && { cachedFrom }),
    ...(body.prompt !== null && { promptVersion: body.prompt.version }),
    // Variables are a part of the request.
    ...(body.prompt !== null && !headers.omitRequest && { inputs: body.prompt.inputs }),
  } as const;
}

/** Returns the head of a call's log entry. */
function entryHead(logged: LoggedCall, { outcome, ...result }: CallResult, clock: Clock): LogEntryHead {
  return {
    ...callHead(logged, result),
    answeredAtMs: clock.now(),
    latencyMs: Math.round(clock.monotonic() - logged.call.startedAt),
    ttftMs: outcome.ttftMs === null ? null : Math.round(outcome.ttftMs),
    status: outcome.status,
    stream: outcome.stream,
    truncated: outcome.truncated,
    errorCode: outcome.errorCode,
    contentType: outcome.contentType,
    contentEncoding: outcome.contentEncoding,
  };
}

/** Returns the head of the entry of a call that its gateway was killed in the middle of. */
function interruptedHead(logged: LoggedCall): LogEntryHead {
  const { call, cachedFrom } = logged;
  return {
    ...callHead(logged, { candidate: call.candidates[0]!, attempts: [], cachedFrom }),
    answeredAtMs: call.createdAtMs,
    latencyMs: 0,
    ttftMs: null,
    status: 0,
    // As the request has it: only a response says whether it is streamed.
    stream: call.body.stream,
    truncated: true,
    errorCode: 'interrupted',
    contentType: null,
    contentEncoding: null,
  };
}

function withoutText(outcome: Outcome): Buffer {
  // Nothing is kept of a response that cannot be read, nor of one whose usage is nested too deep to be written.
  try {
    return Buffer.from(JSON.stringify(answerSkeleton(readCompletion(outcome))));
  } catch {
    return Buffer.from('{}');
  }
}
