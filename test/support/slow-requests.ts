/** Requests that a filter takes milliseconds each to look at, as it does with large bodies. */
import type { Sql } from '#platform/postgres/mod.ts';
import { insertRequests } from './seed-requests.ts';

/** A text that almost contains what is looked for, at each of its characters. */
const ALMOST = 'a'.repeat(3_000);

/** Finds the requests that were marked; each other one costs it millions of comparisons. */
export const SLOW_FILTER = { request: { user_id: { like: `%${'a'.repeat(1_500)}b%` } } };

/**
 * Stores `count` requests, a minute apart up to now, of which the marked ones pass `SLOW_FILTER`; 0 is the newest. Returns the ids of
 * the marked ones, the newest first.
 */
export async function insertSlowRequests(
  sql: Sql,
  organizationId: string,
  count: number,
  marked: readonly number[],
): Promise<string[]> {
  const newestMs = Date.now() - 60_000;
  const rows = await insertRequests(
    sql,
    organizationId,
    Array.from({ length: count }, (_, place) => ({
      user_id: marked.includes(place) ? `${ALMOST}b` : ALMOST,
      created_at: new Date(newestMs - place * 60_000),
    })),
  );
  // Autovacuum does so at some time. Then Postgres reads the small table as a whole, where it used an index before.
  await sql`analyze assay.requests`;
  return marked.map((place) => rows[place]!.request_id);
}
