import type { Sql, TransactionSql } from '../postgres/mod.ts';
import type { Facts } from './facts.ts';

/** How long an announcement counts without being renewed: a process that was killed is believed in no longer. */
const LIVES_MS = 90_000;

/** Returns what the processes of a role that run now can do: what several say alike, once. Empty when none runs. */
export async function readAnnounced<Role extends keyof Facts>(
  sql: Sql | TransactionSql,
  role: Role,
): Promise<Facts[Role][]> {
  const rows = await sql<{ facts: Facts[Role] }[]>`
    select distinct facts from assay.announcements
    where role = ${role} and seen_at > now() - ${LIVES_MS}::float8 * interval '1 ms'`;
  return rows.map(({ facts }) => facts);
}
