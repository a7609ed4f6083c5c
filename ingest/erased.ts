/** Entries of erased requests: they are not stored, however late they come. */
import type { TransactionSql } from '#platform/postgres/mod.ts';
import type { StorableRecord } from './build-record.ts';
import type { DeadLetter } from './dead-letters.ts';
import { judgedEvaluation } from './judge-calls.ts';

/** The identity of a log entry for an erasure; null where it is not known. */
type EntryIdentity = {
  organizationId: string | null;
  requestId: string | null;
  /** The evaluation that a judge's call was made for. */
  evaluationId: string | null;
};

function identityOf({ request }: StorableRecord): EntryIdentity {
  const { organization_id: organizationId, request_id: requestId } = request;
  return { organizationId, requestId, evaluationId: judgedEvaluation(request) };
}

/** Returns the positions, from 0, of the entries whose requests were erased. */
async function findErased(tx: TransactionSql, entries: readonly EntryIdentity[]): Promise<Set<number>> {
  if (entries.length === 0) return new Set();
  const column = (name: keyof EntryIdentity) => entries.map((entry) => entry[name]);
  const rows = await tx<{ position: number }[]>`
    select position from assay.find_erased(${column('organizationId')}::uuid[], ${column('requestId')}::text[],
      ${column('evaluationId')}::int8[]) as position`;
  return new Set(rows.map(({ position }) => position - 1));
}

/**
 * Returns the records and letters whose requests are not erased. Until the transaction ends no erasure of their organizations
 * can begin, so that what the transaction stores is committed before the next erasure looks for it.
 */
export async function withoutErased(
  tx: TransactionSql,
  records: readonly StorableRecord[],
  letters: readonly DeadLetter[],
): Promise<{ records: StorableRecord[]; letters: DeadLetter[] }> {
  const identities = [
    ...records.map(identityOf),
    ...letters.map((letter) => ({ ...letter, evaluationId: null })),
  ];
  const erased = await findErased(tx, identities);
  return {
    records: records.filter((_, index) => !erased.has(index)),
    letters: letters.filter((_, index) => !erased.has(records.length + index)),
  };
}
