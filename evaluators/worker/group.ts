/** Groups claimed evaluations of one evaluator that one request, or one Python process, can do together. Pure. */
import type { ExternalConfig } from '#core/contracts/external.ts';
import { batchSizeOf } from '../external/mod.ts';
import { MAX_BATCH } from '../python/mod.ts';
import type { Job } from '../queue/mod.ts';

/** Puts each job into one group, whose jobs all have the same version of one evaluator. */
export function groupJobs(jobs: readonly Job[]): Job[][] {
  const groups: Job[][] = [];
  const open = new Map<string, Job[]>();
  for (const job of jobs) {
    const size = groupSizeOf(job);
    const key = `${job.evaluator.id}/${job.evaluator.version}/${size}`;
    let group = open.get(key);
    if (group === undefined || group.length === size) {
      group = [];
      groups.push(group);
      open.set(key, group);
    }
    group.push(job);
  }
  return groups;
}

function groupSizeOf({ isBatch, evaluator }: Job): number {
  switch (evaluator.scoringType) {
    case 'PYTHON':
      return isBatch ? MAX_BATCH : 1;
    case 'EXTERNAL': {
      const config = evaluator.externalConfig as ExternalConfig;
      // Those of an evaluator without an adapter to call end as skipped, each by itself.
      return config.adapter === 'imported' ? 1 : batchSizeOf(config);
    }
    default:
      return 1;
  }
}
