/** Writes a call's log entry to the outbox: the moment from which nothing can lose it. */
import { answerSkeleton } from '#core/chat/mod.ts';
import { readableHead } from '#core/contracts/readable-head.ts';
import type { Outbox } from '#platform/log-pipeline/outbox/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Clock } from '#platform/process/clock.ts';
import { readCompletion } from '../response/read-completion.ts';
import { type Call, entryHead, interruptedHead, type Outcome } from './call.ts';

const NOTHING = Buffer.alloc(0);

/**
 * Up to here the request body is written with the START, so that an interrupted call shows what was asked. Under load a
 * START costs 5 µs of CPU with a body of 1 KB and 10 with one of this size; beyond, calls would pay more, in disk too,
 * for what hardly any of them will need, and only their head is written.
 */
const LARGEST_BEGUN_BODY = 8 * 1024;

/** Bodies that the caller asked to omit never leave this process. */
export type Recorder = {
  /**
   * Commits what is known of a call before its provider hears of it: the record that it gets if this process is killed
   * before `record`. Resolves with whether it was kept, never rejects: the call is made either way.
   */
  begin(call: Call): Promise<boolean>;
  /**
   * Commits a call's record; to be called once for each call that was begun. Resolves with whether it was kept, never
   * rejects: the answer goes out either way.
   */
  record(call: Call, outcome: Outcome): Promise<boolean>;
};

/** The latter for one call, and once: whatever comes after the first outcome is told the first's result. */
export type RecordOutcome = (outcome: Outcome) => Promise<boolean>;

/** Records the first outcome of a call, and tells those who wait for it. */
export function recordOnce(call: Call, recorder: Recorder): RecordOutcome {
  let recorded: Promise<boolean> | null = null;
  return (outcome) => {
    if (recorded === null) {
      recorded = recorder.record(call, outcome);
      if (call.whenEnded.length > 0) for (const hear of call.whenEnded.splice(0)) hear(outcome);
    }
    return recorded;
  };
}

/** Makes the recorder that writes to an outbox. Calls beyond their organization's logging rate leave nothing there. */
export function createRecorder(outbox: Outbox, clock: Clock, log: Logger): Recorder {
  return {
    begin: (call) => {
      if (call.isLogged === false) return Promise.resolve(false);
      const { headers, body } = call;
      const isBodyKept = !headers.omitRequest && body.bytes.length <= LARGEST_BEGUN_BODY;
      return outbox.begin(call, {
        head: Buffer.from(JSON.stringify(interruptedHead(call))),
        requestBody: isBodyKept ? body.bytes : NOTHING,
        responseBody: NOTHING,
      });
    },
    record: (call, outcome) =>
      // A promise only while the counters are asked: ordinary calls do not wait for one.
      call.isLogged instanceof Promise
        ? call.isLogged.then((isLogged) => append(call, outcome, isLogged))
        : append(call, outcome, call.isLogged),
  };

  function append(call: Call, outcome: Outcome, isLogged: boolean): Promise<boolean> {
    if (!isLogged) {
      outbox.discard(call);
      return Promise.resolve(false);
    }
    const { head, unreadable } = readableHead(entryHead(call, outcome, clock));
    if (unreadable.length > 0)
      log.error({ requestId: call.id, unreadable }, 'a log entry had members that ingest could not read');
    if (head === null) {
      outbox.discard(call);
      return Promise.resolve(false);
    }
    let responseBody = outcome.responseBody;
    if (head.omitResponse) {
      responseBody = withoutText(outcome);
      head.contentEncoding = null;
      head.contentType = 'application/json';
    }
    return outbox.append(call, {
      head: Buffer.from(JSON.stringify(head)),
      requestBody: head.omitRequest ? NOTHING : call.body.bytes,
      responseBody,
    });
  }
}

function withoutText(outcome: Outcome): Buffer {
  const answer = readCompletion(outcome);
  // What cannot be read cannot be reduced either: then nothing of it is kept.
  return Buffer.from(answer === null ? '{}' : JSON.stringify(answerSkeleton(answer)));
}
