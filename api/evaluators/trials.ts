/**
 * Trials: an evaluators process compiles code and tries evaluators out while the API waits, in the sandbox and with the
 * credentials of real evaluations, which the API does not have. A trial is a row that its result is written into. Both
 * sides notify each other through Postgres, and also poll, because a notification may get lost.
 */

import { randomUUID } from 'node:crypto';
import { TRIAL_RESULTS_CHANNEL, TRIALS_CHANNEL } from '#core/contracts/channels.ts';
import { AssayError } from '#core/contracts/errors.ts';
import type { TrialBody, TrialResult, TrialResultOf } from '#core/contracts/trial.ts';
import { storableJson } from '#core/json/mod.ts';
import { inOrganization, type Listener, type Sql, type TransactionSql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { FairSlots } from '#platform/process/fair-slots.ts';

type Trial = { organizationId: string; body: TrialBody };

export type Trials = {
  /**
   * Hands a trial to an evaluators process and waits for its result.
   * @throws AssayError evaluators_unavailable when too many trials are under way for too long, no evaluators process takes
   *   it, or it is not done in time
   */
  run<Body extends TrialBody>(trial: { organizationId: string; body: Body }): Promise<TrialResultOf<Body>>;
  stop(): Promise<void>;
};

export type TrialsOptions = {
  /** Under the role `assay_api`. */
  sql: Sql;
  listener: Listener;
  clock: Clock;
  /** Overrides how long to wait, in milliseconds. */
  patience?: Partial<TrialPatience>;
};

export type TrialPatience = {
  /** Wait for earlier trials of the organization to end, when it has the allowed number under way. */
  queuedMs: number;
  /** Wait for a process to take a trial: a running one takes it at once, unless all are busy. */
  takenMs: number;
  /** Wait for a compilation or Python. */
  localMs: number;
  /** Wait for judges and other services. */
  remoteMs: number;
};

const PATIENCE: TrialPatience = { queuedMs: 5_000, takenMs: 5_000, localMs: 15_000, remoteMs: 120_000 };

/** Time between two polls for a result: long while notifications arrive, short while they do not. */
const POLL_MS = { notified: 1_000, unnotified: 250 };

/** Trials under way at a time, in this process and of one organization: each polls Postgres. */
const MAX_UNDER_WAY = 64;
const MAX_UNDER_WAY_OF_ONE = 8;
/** Trials that wait to begin: each holds its body in memory. */
const MAX_QUEUED = 256;
const MAX_QUEUED_OF_ONE = 32;

const unavailable = (message: string) => new AssayError('evaluators_unavailable', message);

/** A trial under way. */
type Waiting = { isWoken: boolean; wake(): void };

type TrialRow = { is_taken: boolean; result: TrialResult | null };

export function createTrials({ sql, listener, clock, patience }: TrialsOptions): Trials {
  const { queuedMs, takenMs, localMs, remoteMs } = { ...PATIENCE, ...patience };
  const waiting = new Map<string, Waiting>();
  const slots = new FairSlots({
    count: MAX_UNDER_WAY,
    ofOne: MAX_UNDER_WAY_OF_ONE,
    maxWaiting: MAX_QUEUED,
    maxWaitingOfOne: MAX_QUEUED_OF_ONE,
    patienceMs: queuedMs,
  });
  let isListening = false;
  const listening = listener.listen({
    channel: TRIAL_RESULTS_CHANNEL,
    onNotify: (trialId) => wake(waiting.get(trialId)),
    onListening: () => {
      isListening = true;
      for (const one of waiting.values()) wake(one);
    },
    onLost: () => {
      isListening = false;
    },
  });

  async function insertTrial(organizationId: string, trialId: string, body: TrialBody): Promise<void> {
    const text = storableJson(body).text;
    const insert = async (tx: TransactionSql) => {
      await tx`
        insert into assay.evaluator_trials (trial_id, organization_id, body)
        values (${trialId}, ${organizationId}, ${text}::text::jsonb)`;
      await tx`select pg_notify(${TRIALS_CHANNEL}, ${trialId})`;
    };
    // Others wait for the place for trials that this one has.
    await inOrganization(sql, organizationId, insert, { isContinued: true });
  }

  async function readTrial(organizationId: string, trialId: string): Promise<TrialRow> {
    const [row] = await inOrganization(
      sql,
      organizationId,
      (tx) => tx<TrialRow[]>`
        select taken_at is not null as is_taken, result from assay.evaluator_trials where trial_id = ${trialId}`,
    );
    // The table is unlogged: it is empty after a crash of Postgres.
    if (row === undefined) throw unavailable('The evaluators lost this call: try again');
    return row;
  }

  async function awaitResult(
    organizationId: string,
    trialId: string,
    one: Waiting,
    { patienceMs, tooLong }: { patienceMs: number; tooLong: string },
  ): Promise<TrialResult> {
    const start = clock.monotonic();
    for (;;) {
      await nextPoll(one, isListening ? POLL_MS.notified : POLL_MS.unnotified);
      const { is_taken: isTaken, result } = await readTrial(organizationId, trialId);
      if (result !== null) return result;
      const waitedMs = clock.monotonic() - start;
      if (!isTaken && waitedMs >= takenMs) {
        throw unavailable('No evaluators process is free, or none runs: try again');
      }
      if (waitedMs >= patienceMs) throw unavailable(tooLong);
    }
  }

  const patienceWith = (body: TrialBody) =>
    isLocal(body)
      ? { patienceMs: localMs, tooLong: 'The evaluators took too long: try again' }
      : {
          patienceMs: remoteMs,
          tooLong: `The judge or service has not answered within ${remoteMs / 1_000} s, which is as long as a try-out waits`,
        };

  const deleteTrial = (organizationId: string, trialId: string) =>
    inOrganization(
      sql,
      organizationId,
      (tx) => tx`delete from assay.evaluator_trials where trial_id = ${trialId}`,
    ).catch(() => {}); // The evaluators delete old trials.

  async function runNow({ organizationId, body }: Trial): Promise<TrialResult> {
    const trialId = randomUUID();
    const one: Waiting = { isWoken: false, wake: () => {} };
    waiting.set(trialId, one);
    try {
      await insertTrial(organizationId, trialId, body);
      return await awaitResult(organizationId, trialId, one, patienceWith(body));
    } finally {
      waiting.delete(trialId);
      await deleteTrial(organizationId, trialId);
    }
  }

  return {
    async run<Body extends TrialBody>(trial: { organizationId: string; body: Body }) {
      const result = await slots.run(trial.organizationId, () => runNow(trial));
      if (result === null) {
        throw unavailable('Too many evaluators are being compiled or tried out at once: try again');
      }
      if (result.kind === 'unavailable') throw unavailable(result.message);
      return result as TrialResultOf<Body>;
    },
    stop: () => listening.stop(),
  };
}

function isLocal(body: TrialBody): boolean {
  return body.kind === 'compile' || body.scoringType === 'PYTHON';
}

function wake(one: Waiting | undefined): void {
  if (one === undefined) return;
  one.isWoken = true;
  one.wake();
}

/** Resolves after `waitMs`, or as soon as there was a notification since the last time. */
function nextPoll(one: Waiting, waitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      one.isWoken = false;
      one.wake = () => {};
      resolve();
    };
    const timer = setTimeout(done, waitMs);
    one.wake = done;
    if (one.isWoken) done();
  });
}
