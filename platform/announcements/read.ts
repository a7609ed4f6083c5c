import type { Sql, TransactionSql } from '../postgres/mod.ts';
import type { Facts } from './facts.ts';

/** Lifetime of an announcement without a renewal: those of killed processes expire then. */
const LIVES_MS = 90_000;

/** Returns the distinct facts of a role's running processes; empty when none runs. */
export async function readAnnounced<Role extends keyof Facts>(
  sql: Sql | TransactionSql,
  role: Role,
): Promise<Facts[Role][]> {
  const rows = await sql<{ facts: Facts[Role] }[]>`
    select distinct facts from assay.announcements
    where role = ${role} and seen_at > now() - ${LIVES_MS}::float8 * interval '1 ms'`;
  return rows.map(({ facts }) => facts);
}
