/** The lane of experiments: makes the calls of their runs through the gateway. */
import { EXPERIMENTS_CHANNEL } from '#core/contracts/channels.ts';
import { describeError } from '#core/contracts/errors.ts';
import { estimateCost, type Prices } from '#core/experiments/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { type Listener, onAnnounced, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { settlesWithin } from '#platform/process/deadline.ts';
import { Lane } from '../worker/mod.ts';
import { claimRuns } from './claim.ts';
import type { ExperimentJob } from './job.ts';
import { type RunOptions, runJob } from './run.ts';
import { type RunResult, releaseRuns, renewRuns, settleRun } from './settle.ts';

export { LONGEST_WAIT_MS } from './run.ts';

export type ExperimentsOptions = RunOptions & {
  sql: Sql;
  listener: Listener;
  log: Logger;
  clock: Clock;
  /** Prices calls before they are made. */
  catalog: Prices;
  /** Maximum number of runs held at a time. */
  capacity: number;
};

export type Experiments = {
  /** Returns the number of runs held now. */
  held(): number;
  /** Stops claiming and finishes the calls under way. Runs not done within `deadlineMs` are given back. */
  stop(deadlineMs: number): Promise<void>;
};

/** Starts the lane of a process. */
export function startExperiments(options: ExperimentsOptions): Experiments {
  const { sql, listener, log, clock, catalog, capacity } = options;
  const lane = new Lane<ExperimentJob, RunResult>({
    log,
    queue: {
      what: 'runs of experiments',
      claim: (room) =>
        claimRuns(sql, room, {
          estimate: (target, item) => estimateCost(catalog, target, item, clock.now()),
          prices: catalog,
          nowMs: () => clock.now(),
          onFailed: (organizationId, error) =>
            log.error(
              { organizationId, error: describeError(error) },
              'cannot claim the runs of an organization',
            ),
        }),
      settle: (job, result) => settleRun(sql, job, result),
      renew: (jobs) => renewRuns(sql, jobs),
      release: (jobs) => releaseRuns(sql, jobs),
    },
    capacity,
    idOf: ({ experimentId, itemId, repetition }) => `${experimentId}/${itemId}/${repetition}`,
    group: (jobs) => jobs.map((job) => [job]),
    work: (jobs) => Promise.all(jobs.map((job) => runJob(job, options))),
    onSettled: () => {},
    longestSleepMs: () => announced.longestSleepMs(),
  });
  const announced = onAnnounced(listener, EXPERIMENTS_CHANNEL, () => lane.wake());
  const running = lane.run();
  return {
    held: () => lane.held,
    stop: async (deadlineMs) => {
      lane.stop();
      await announced.stop();
      if (!(await settlesWithin(running, deadlineMs))) await lane.abandon();
    },
  };
}
