/** Claims of everything that is due, and what was claimed. */
import type { Lease } from '../../../../evaluators/queue/leases.ts';
import type { World } from '../../../support/evaluation-queue.ts';

export const ALL = {
  lane: 'python',
  limit: 1_000,
  roomByOrganization: new Map(),
  roomOfOthers: 1_000,
} as const;

export const byOrganization = (jobs: readonly { organizationId: string }[]) =>
  Object.fromEntries(
    [...Map.groupBy(jobs, (job) => job.organizationId)].map(([id, own]) => [id, own.length]),
  );

export const ids = (jobs: readonly Lease[]) => jobs.map((job) => job.evaluationId).sort();

/** Makes these evaluations older, as if so much time had passed. */
export async function elapse(
  { sql }: World,
  evaluationIds: readonly string[],
  elapsedMs: number,
): Promise<void> {
  await sql`
    update assay.evaluations set due_at = due_at - ${elapsedMs}::float8 * interval '1 ms'
     where evaluation_id = any(${evaluationIds as string[]}::int8[])`;
}
