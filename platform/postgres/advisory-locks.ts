/** Advisory locks, which last until their transaction ends. */
import type { TransactionSql } from './connect.ts';

/**
 * Makes transactions that lock the same name follow one another.
 * @param name what is locked, and the ids of its owners, such as `datasets <organization id>`
 */
export async function lockName(tx: TransactionSql, name: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`assay.${name}`}, 0))`;
}

/**
 * Keeps an organization's requests from being erased until the transaction ends: what is added to one that is erased meanwhile
 * would stay. The transaction may take seconds; functions/erasure.sql explains both locks.
 */
export async function holdErasures(tx: TransactionSql, organizationId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock_shared(assay.long_erasure_lock(${organizationId}))`;
}

/** The same for a transaction that soon ends: an erasure that waits for it keeps ingest waiting, too. */
export async function holdErasuresBriefly(tx: TransactionSql, organizationId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock_shared(assay.erasure_lock(${organizationId}))`;
}
