/** The records that claimed evaluations are of, for the statement that loads them. */
import type { TransactionSql } from '#platform/postgres/mod.ts';

const REQUEST =
  'request_id, source, status, truncated, error_code, model, inputs, properties_folded, expected, prompt_tokens, completion_tokens';
const BODIES = 'request_text, response_text';
/** A time before all weeks. For a null, or a false condition, Postgres would take up all weeks of bodies. */
const NEVER_MS = 0;

/**
 * Writes the look-ups of the records of evaluations `e` whose requests were made at these times. Fenced, so that each record is
 * looked up by its key, whatever Postgres estimates: for a few dozen it would read all weeks. And planned for the weeks of these
 * times alone: for years of weeks that takes a hundred times as long as the look-ups.
 * @param created the column of `e` that has the time
 * @param id the column of `e` that has the id
 */
export function recordsAt(
  tx: TransactionSql,
  times: readonly (Date | null)[],
  { created, id }: { created: string; id: string },
) {
  const known = times.flatMap((time) => time?.getTime() ?? []);
  const [first, last] = known.length === 0 ? [NEVER_MS, NEVER_MS] : [Math.min(...known), Math.max(...known)];
  const lookUp = (columns: string, table: string) => tx`(
    select ${tx.unsafe(columns)} from assay.${tx(table)} q
     where q.organization_id = e.organization_id and q.created_at = e.${tx(created)} and q.request_id = e.${tx(id)}
       and q.created_at between ${new Date(first)}::timestamptz and ${new Date(last)}::timestamptz offset 0)`;
  return { request: lookUp(REQUEST, 'requests'), bodies: lookUp(BODIES, 'bodies') };
}
