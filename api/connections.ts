/** The API's connections to Postgres: a pool for each kind of work, so that none of them waits for another. */
import { connectPostgres, type Sql } from '#platform/postgres/mod.ts';
import type { StopStep } from '#platform/process/lifecycle.ts';
import { createQuerySlots, QUERY_CONNECTIONS } from './query-slots.ts';

/** Longer than any query with an index takes; a scan of bodies that takes longer would hold a connection for minutes. */
const QUERY_TIMEOUT_MS = 15_000;
const OWNER_TIMEOUT_MS = 5_000;
/**
 * Longer than any evaluation on roll-ups takes. A slower alert fails with an error that its owner sees, and delays no other
 * further.
 */
const ALERT_TIMEOUT_MS = 5_000;
/** Longer than a query may take: nobody waits for a page of a deletion. */
const ERASURE_TIMEOUT_MS = 60_000;

const KEY_CONNECTIONS = 2;
/** Reservations of ids wait for the outbox, so they have connections of their own and hold up no key. */
const CLAIM_CONNECTIONS = 4;
/** One connection reads the counters while the other writes calls that were counted without them. */
const LIMIT_CONNECTIONS = 2;
/** One page of deletions at a time: more would keep ingest waiting. */
const ERASURE_CONNECTIONS = 1;
/** Retries of dead letters, one at a time: each counts tokens, and may wait for them. */
const LETTER_CONNECTIONS = 1;
/** Two evaluate alerts and claim the next ones; one is left for releasing alerts at a stop, which waits for none that is slow. */
const ALERT_CONNECTIONS = 3;

/** Opens all pools, which connect when they are first used. `closing` ends them. */
export function openConnections(url: string) {
  // Keys and ids are read as the owner; everything else under row-level security, as a role that sees one organization a time.
  const connectAsOwner = (applicationName: string, max: number, statementTimeoutMs = OWNER_TIMEOUT_MS) =>
    connectPostgres({ url, max, applicationName, statementTimeoutMs });
  const keySql = connectAsOwner('assay-api-keys', KEY_CONNECTIONS);
  const claimSql = connectAsOwner('assay-api-claims', CLAIM_CONNECTIONS);
  const limitSql = connectAsOwner('assay-api-limits', LIMIT_CONNECTIONS);
  const erasureSql = connectAsOwner('assay-api-erasure', ERASURE_CONNECTIONS, ERASURE_TIMEOUT_MS);
  const letterSql = connectAsOwner('assay-api-dead-letters', LETTER_CONNECTIONS, ERASURE_TIMEOUT_MS);
  const alertSql = connectAsOwner('assay-api-alerts', ALERT_CONNECTIONS, ALERT_TIMEOUT_MS);
  const querySlots = createQuerySlots();
  const sql = connectPostgres({
    url,
    max: QUERY_CONNECTIONS,
    role: 'assay_api',
    applicationName: 'assay-api',
    statementTimeoutMs: QUERY_TIMEOUT_MS,
    slots: querySlots,
  });
  const ending = (what: string, pool: Sql): StopStep => ({ what, run: () => pool.end({ timeout: 1 }) });
  const closing = [
    ending('closing the query connections', sql),
    ending('closing the limit connections', limitSql),
    ending('closing the erasure connection', erasureSql),
    ending('closing the connection of dead letters', letterSql),
    ending('closing the alert connections', alertSql),
    ending('closing the claim connections', claimSql),
    ending('closing the key connections', keySql),
  ];
  return { keySql, claimSql, limitSql, erasureSql, letterSql, alertSql, sql, querySlots, closing };
}
