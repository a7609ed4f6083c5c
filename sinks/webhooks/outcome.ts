/** Outcome of an attempt for its delivery and its webhook. Pure. */
import { type DeliveryAttempt, type DeliveryState, TEST_EVENT } from '#core/contracts/webhook.ts';
import type { Attempt } from './attempt.ts';
import type { Job } from './claim.ts';
import { nextWaitMs, restMs } from './schedule.ts';
import type { Pause } from './webhooks.ts';

/** Outcome of a claimed delivery. */
export type Outcome = {
  state: Exclude<DeliveryState, 'sending'>;
  /** Time until it is due again, in milliseconds; null: it is over. */
  dueInMs: number | null;
  /** The attempt; null: none was made. */
  tried: DeliveryAttempt | null;
  /** Why it is cancelled or given up without an attempt. */
  reason: string | null;
  /** Time for which the webhook's deliveries rest. */
  restMs: number;
  pause: Pause | null;
};

const NOTHING: Omit<Outcome, 'state'> = { dueInMs: null, tried: null, reason: null, restMs: 0, pause: null };

/** The request was erased, or dropped with its week, before its event was sent. */
export const GONE: Outcome = {
  ...NOTHING,
  state: 'cancelled',
  reason: 'The request is no longer there: it was erased, or its retention is over',
};

/** Claims in a row that end with their process, after which a delivery is given up: it may be the cause. */
export const MAX_LOST = 10;

export const GIVEN_UP: Outcome = {
  ...NOTHING,
  state: 'failed',
  reason: `The last ${MAX_LOST} processes that claimed it ended before they settled it`,
};

/** The webhook's secrets cannot be opened: the delivery waits until it is resumed. */
export function unsigned({ webhookId }: Job, message: string): Outcome {
  return {
    ...NOTHING,
    state: 'pending',
    dueInMs: 0,
    pause: { webhookId, reason: 'secret', message, missedFrom: null },
  };
}

/** Overrides of the schedule, for tests. */
export type ScheduleOptions = { waitsMs?: readonly number[]; random?: () => number };

/** Returns the outcome of a delivery after an attempt. */
export function outcomeOf(job: Job, made: Attempt, schedule: ScheduleOptions = {}): Outcome {
  const { atMs, durationMs, status, error, answer, retryAfterMs } = made;
  const at = new Date(atMs).toISOString();
  const tried = { at, duration_ms: durationMs, status, error, answer };
  if (error === null) return { ...NOTHING, state: 'delivered', tried };
  const failed: Outcome = { ...NOTHING, state: 'failed', tried, restMs: restMs(status, retryAfterMs) };
  if (job.event === TEST_EVENT) return failed;
  const { webhookId } = job;
  const pause = (reason: 'gone' | 'failing', message: string): Outcome => ({
    ...failed,
    pause: { webhookId, reason, message, missedFrom: null },
  });
  if (status === 410) return pause('gone', error);
  const waitMs = nextWaitMs(job.attempts + 1, retryAfterMs, schedule);
  if (waitMs !== null) return { ...failed, state: 'pending', dueInMs: waitMs };
  return pause('failing', `Nothing could be delivered since ${job.begunAt ?? at}: ${error}`);
}
