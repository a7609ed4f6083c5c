/** The worker: what is due is claimed, scored and settled, for as long as the process lives. */

import { EVALUATIONS_CHANNEL } from '#core/contracts/channels.ts';
import type { Lane as LaneName } from '#core/scoring/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import { listen, type Sql } from '#platform/postgres/mod.ts';
import type { Clock } from '#platform/process/clock.ts';
import { settlesWithin } from '#platform/process/deadline.ts';
import type { SecretBox } from '#platform/secrets/mod.ts';
import type { Sandbox } from '../python/mod.ts';
import type { Fate, Job } from '../queue/mod.ts';
import { evaluate } from './evaluate.ts';
import { Lane } from './lane.ts';
import { walkRuns } from './runs.ts';
import type { Scorer } from './scorer.ts';
import { serveTrials } from './trials.ts';

export type { ThreadData } from './score.ts';
export { createScorer, type Scorer } from './scorer.ts';

export type WorkerOptions = {
  sql: Sql;
  log: Logger;
  clock: Clock;
  scorer: Scorer;
  sandbox: Sandbox;
  secrets: SecretBox;
  /** Evaluations that are held at a time, by lane. */
  capacity: Record<LaneName, number>;
  onSettled(job: Job, fate: Fate): void;
};

export type Worker = {
  /** Evaluations that are held now. */
  held(): number;
  /** Claims nothing more, and finishes what was begun; what is not done within `deadlineMs` is given back. */
  stop(deadlineMs: number): Promise<void>;
};

export function startWorker(options: WorkerOptions): Worker {
  const { sql, log, capacity, onSettled } = options;
  const lanes = (Object.keys(capacity) as LaneName[]).map(
    (name) =>
      new Lane({
        sql,
        log,
        name,
        capacity: capacity[name],
        evaluate: (group) => evaluate(group, options),
        onSettled,
      }),
  );
  const wakeAll = () => {
    for (const lane of lanes) lane.wake();
  };
  const listening = listen({
    sql,
    channel: EVALUATIONS_CHANNEL,
    onNotify: wakeAll,
    onListening: wakeAll,
    onLost: () => {},
  });
  const runs = walkRuns({ sql, log, onScheduled: wakeAll });
  const trials = serveTrials(options);
  const running = Promise.all(lanes.map((lane) => lane.run()));
  return {
    held: () => lanes.reduce((sum, lane) => sum + lane.held, 0),
    stop: async (deadlineMs) => {
      for (const lane of lanes) lane.stop();
      await listening.stop();
      const all = Promise.all([running, runs.stop(), trials.stop()]);
      if (await settlesWithin(all, deadlineMs)) return;
      for (const lane of lanes) await lane.abandon();
    },
  };
}
