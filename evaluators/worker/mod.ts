/** The worker: claims, scores and settles due evaluations, schedules runs, and serves trials. */

import { EVALUATIONS_CHANNEL } from '#core/contracts/channels.ts';
import type { Lane as LaneName } from '#core/scoring/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { type Listener, onAnnounced, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { settlesWithin } from '#platform/process/deadline.ts';
import type { SecretBox } from '#platform/secrets/mod.ts';
import type { Sandbox } from '../python/mod.ts';
import type { Job, NextState } from '../queue/mod.ts';
import { evaluate } from './evaluate.ts';
import { createEvaluationLane } from './evaluation-lane.ts';
import { scheduleRuns } from './runs.ts';
import type { Scorer } from './scorer.ts';
import { serveTrials } from './trials.ts';

export { type Claimed, Lane, type Room } from './lane.ts';
export { createScorer } from './scorer.ts';

type WorkerOptions = {
  sql: Sql;
  listener: Listener;
  log: Logger;
  clock: Clock;
  scorer: Scorer;
  sandbox: Sandbox;
  secrets: SecretBox;
  /** Maximum number of evaluations held at a time, by lane. */
  capacity: Record<LaneName, number>;
  onSettled(job: Job, next: NextState): void;
};

export type Worker = {
  /** Returns the number of evaluations held now. */
  held(): number;
  /** Stops claiming and finishes the work under way. Evaluations not done within `deadlineMs` are released. */
  stop(deadlineMs: number): Promise<void>;
};

/** Starts the worker of a process. */
export function startWorker(options: WorkerOptions): Worker {
  const { sql, listener, log, capacity, onSettled } = options;
  const lanes = (Object.keys(capacity) as LaneName[]).map((name) =>
    createEvaluationLane({
      sql,
      log,
      name,
      capacity: capacity[name],
      evaluate: (group) => evaluate(group, options),
      onSettled,
      longestSleepMs: () => announced.longestSleepMs(),
    }),
  );
  const wakeAll = () => {
    for (const lane of lanes) lane.wake();
  };
  const announced = onAnnounced(listener, EVALUATIONS_CHANNEL, wakeAll);
  const runs = scheduleRuns({ sql, listener, log, onScheduled: wakeAll });
  const trials = serveTrials(options);
  const running = Promise.all(lanes.map((lane) => lane.run()));
  return {
    held: () => lanes.reduce((sum, lane) => sum + lane.held, 0),
    stop: async (deadlineMs) => {
      for (const lane of lanes) lane.stop();
      await announced.stop();
      const all = Promise.all([running, runs.stop(), trials.stop()]);
      if (await settlesWithin(all, deadlineMs)) return;
      for (const lane of lanes) await lane.abandon();
    },
  };
}
