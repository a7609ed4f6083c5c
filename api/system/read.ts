/** The statements of `GET /v1/system`, in a transaction of the role `assay_api`. */
import { MOST_DEAD_LETTERS, MOST_PAUSED } from '#core/contracts/system.ts';
import { readSinkLags, type SinkLag } from '#platform/changes/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { type ProcessRow, selectLiveProcesses } from '#platform/processes/mod.ts';

export type SystemRows = {
  now: Date;
  processes: ProcessRow[];
  deadLetters: { own: number; others: number | null };
  paused: { id: string; name: string; reason: string }[];
  hasEvaluators: boolean;
  newestStoredAt: Date | null;
  sinks: SinkLag[];
};

/** Reads the rows that an organization's key may see. */
export async function readSystem(tx: TransactionSql, organizationId: string): Promise<SystemRows> {
  const [processes, [facts], paused, sinks] = await Promise.all([
    selectLiveProcesses(tx),
    tx<
      {
        now: Date;
        own: number;
        others: number | null;
        hasEvaluators: boolean;
        newestStoredAt: Date | null;
      }[]
    >`
      select now() as now, letters.own, letters.others,
             exists (select from assay.evaluators
                      where organization_id = ${organizationId} and deleted_at is null) as "hasEvaluators",
             (select created_at from assay.requests where organization_id = ${organizationId}
               order by created_at desc, request_id desc limit 1) as "newestStoredAt"
        from assay.count_dead_letters(${MOST_DEAD_LETTERS}) letters`,
    tx<{ id: string; name: string; reason: string }[]>`
      select evaluator_id as id, name, paused_reason as reason from assay.evaluators
       where organization_id = ${organizationId} and deleted_at is null and paused_reason is not null
       order by name, evaluator_id limit ${MOST_PAUSED}`,
    readSinkLags(tx),
  ]);
  const { own, others, ...rest } = facts!;
  return { ...rest, processes, paused, deadLetters: { own, others }, sinks };
}
