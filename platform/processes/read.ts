import type { ProcessStates } from '#core/contracts/process-state.ts';
import type { Sql, TransactionSql } from '../postgres/mod.ts';
import type { ProcessFacts } from './facts.ts';

export type ProcessRow = {
  processId: string;
  role: keyof ProcessStates;
  version: string;
  startedAt: Date;
  /** When it reported last. */
  at: Date;
  /** The state in the shape of its role, unless a process of another version reports. */
  state: unknown;
};

/** Silence after which a process counts as gone: three reports were missed. */
const LIVES_MS = 35_000;
/** Most rows of one answer, the newest processes first. */
const MAX_ROWS = 1_000;

/** Lists the processes that report themselves, by role, the newest first. */
export function selectLiveProcesses(sql: Sql | TransactionSql): Promise<ProcessRow[]> {
  return sql<ProcessRow[]>`
    select process_id as "processId", role, version, started_at as "startedAt", at, state from assay.processes
     where at > now() - ${LIVES_MS}::float8 * interval '1 ms'
     order by role, started_at desc, process_id limit ${MAX_ROWS}`;
}

/** Returns the distinct facts of a role's live processes; empty when none is alive. */
export async function readFacts<Role extends 'gateway' | 'evaluators'>(
  sql: Sql | TransactionSql,
  role: Role,
): Promise<ProcessFacts[Role][]> {
  const rows = await sql<{ facts: ProcessFacts[Role] }[]>`
    select distinct facts from assay.processes
     where role = ${role} and facts is not null and at > now() - ${LIVES_MS}::float8 * interval '1 ms'`;
  return rows.map(({ facts }) => facts);
}
