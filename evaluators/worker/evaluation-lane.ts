/** A lane of evaluations: the queue is their table, and one group is what one request or one Python process can do together. */
import type { Lane as LaneName } from '#core/scoring/mod.ts';
import type { Logger } from '#platform/observability/log.ts';
import type { Sql } from '#platform/postgres/mod.ts';
import { claim, type Job, type NextState, releaseLeases, renewLeases, settle } from '../queue/mod.ts';
import type { EvaluationResult } from './evaluate.ts';
import { groupJobs } from './group.ts';
import { Lane } from './lane.ts';

type EvaluationLaneOptions = {
  sql: Sql;
  log: Logger;
  name: LaneName;
  /** Maximum number of evaluations held at a time. */
  capacity: number;
  /** Evaluates a group: one result for each job, in order. Must not reject. */
  evaluate(group: readonly Job[]): Promise<EvaluationResult[]>;
  onSettled(job: Job, next: NextState): void;
  longestSleepMs(): number;
};

export function createEvaluationLane(options: EvaluationLaneOptions): Lane<Job, EvaluationResult> {
  const { sql, log, name, capacity, evaluate, onSettled, longestSleepMs } = options;
  return new Lane<Job, EvaluationResult>({
    log,
    queue: {
      what: 'evaluations',
      claim: (room) => claim(sql, { lane: name, ...room }),
      settle: (job, { next, use }) => settle(sql, job, next, use),
      renew: (jobs) => renewLeases(sql, jobs),
      release: (jobs) => releaseLeases(sql, jobs),
    },
    capacity,
    idOf: ({ evaluationId }) => evaluationId,
    group: groupJobs,
    work: evaluate,
    onSettled: (job, { next }) => onSettled(job, next),
    longestSleepMs,
  });
}
